"""protoc, from grpcio-tools, as the one who knows: what it says of files, and whether it refuses.

It runs in this process; what it prints is caught at the file descriptor.
"""

import importlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from google.protobuf import descriptor_pb2 as pb

from headwater.schemas.formats.protobuf.descriptors import json_name_of

CORPUS = Path(__file__).parent / "corpus"
MAIN = "main.proto"
# By name, for neither has types.
_PROTOC = importlib.import_module("grpc_tools.protoc")
_INCLUDES = [
    Path(str(_PROTOC.__file__)).parent / "_proto",
    Path(str(importlib.import_module("google.type.date_pb2").__file__)).parents[2],
]


class RefusedByProtoc(Exception):
    """protoc's own words."""


def compiled(main: str, others: Mapping[str, str] | None = None) -> pb.FileDescriptorProto:
    """protoc's descriptor of *main*, *others* by their paths. Raises RefusedByProtoc."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**(others or {}), MAIN: main}.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        output = Path(folder, "files.bin")
        arguments = [f"-I{path}" for path in (folder, *_INCLUDES)]
        code, said = _quietly(["protoc", *arguments, f"--descriptor_set_out={output}", MAIN])
        if code != 0:
            raise RefusedByProtoc(said)
        return pb.FileDescriptorSet.FromString(output.read_bytes()).file[0]


def as_protoc_writes(proto: pb.FileDescriptorProto) -> pb.FileDescriptorProto:
    """*proto*, which is ours, with what protoc adds to descriptor sets and leaves out of them."""
    proto = pb.FileDescriptorProto.FromString(proto.SerializeToString())
    proto.name = MAIN
    if proto.syntax == "proto2":
        proto.ClearField("syntax")
    _give_json_names(proto.extension)
    for message in proto.message_type:
        _give_json_names_inside(message)
    return proto


def _give_json_names_inside(message: pb.DescriptorProto) -> None:
    _give_json_names(message.field)
    _give_json_names(message.extension)
    for nested in message.nested_type:
        _give_json_names_inside(nested)


def _give_json_names(fields: Iterable[pb.FieldDescriptorProto]) -> None:
    for field in fields:
        if not field.HasField("json_name"):
            field.json_name = json_name_of(field.name)


def _quietly(arguments: list[str]) -> tuple[int, str]:
    with tempfile.TemporaryFile("w+") as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            code = _PROTOC.main(arguments)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        said.seek(0)
        return int(code), said.read()
