"""Makes the partitions on this node what the committed metadata says they are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, final

from ..controller.image import (
    ConfigResource,
    ConfigResourceType,
    MetadataDelta,
    MetadataImage,
    PartitionImage,
    TopicImage,
)
from ..kernel.ids import NO_TOPIC_ID
from ..replica.partition import Assignment, Partition
from ..storage.directory import LogDirectory
from ..storage.errors import DiskFull, LogDirectoryFailed
from ..storage.log import PartitionLog
from ..storage.notes import Note
from .describe import holds
from .partitions import Hosted, Partitions
from .topic_settings import TopicSettings

ALL_TOPICS: Final = ""


class Coordinator(Protocol):
    """What follows the leadership of an internal topic's partitions."""

    def adopt(self, hosted: Hosted) -> None:
        """This node leads that partition now."""
        ...

    def drop(self, index: int) -> None:
        """This node does not lead that partition any more."""
        ...


class SettingsFor(Protocol):
    """The settings of a topic under an image's configurations."""

    def __call__(self, image: MetadataImage, topic: str, /) -> TopicSettings: ...


@final
class Reconciler:
    """Creates, changes and removes hosted partitions as metadata changes."""

    def __init__(
        self,
        *,
        node_id: int,
        partitions: Partitions,
        directories: Sequence[LogDirectory],
        coordinators: Mapping[str, Coordinator],
        topics_deleted: Callable[[frozenset[str]], None],
        settings_for: SettingsFor,
        note: Callable[[Note], None],
        failed: Callable[[LogDirectoryFailed], None],
    ) -> None:
        self._node_id = node_id
        self._partitions = partitions
        self._directories = directories
        self._coordinators = coordinators
        self._topics_deleted = topics_deleted
        self._settings_for = settings_for
        self._note = note
        self._failed = failed
        self._missing: dict[tuple[str, int], None] = {}

    def start(self, image: MetadataImage, logs: Mapping[tuple[str, int], PartitionLog]) -> None:
        """Host every partition that metadata puts on this node, with the logs found on disk.

        A log whose topic is gone, or came back under another id, is deleted: the deletion was
        committed while this node was down. One whose own id cannot be read is the topic's, since
        deleting it would turn a damaged line into lost records. A missing log is created empty.
        """
        wanted = {(topic.name, index): topic for topic, index in image.hosted_by(self._node_id)}
        found = dict(logs)
        for (name, index), log in logs.items():
            topic = wanted.get((name, index))
            if topic is not None and log.topic_id == NO_TOPIC_ID:
                self._directory_of(log).adopt(log, topic.topic_id)
            if topic is None or log.topic_id != topic.topic_id:
                self._note(Note(event="stray_log_deleted", path=log.path))
                self._directory_of(log).delete(log)
                del found[name, index]
        settings: dict[str, TopicSettings] = {}
        for (name, index), topic in wanted.items():
            if name not in settings:
                settings[name] = self._settings_for(image, name)
            self._host(topic, index, settings[name], found.get((name, index)))
        self._sync_created()

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow one committed change."""
        if delta.is_empty:
            return
        for topic in delta.topics_deleted:
            self._remove(topic)
        for name in delta.topics_created:
            topic = image.topics[name]
            settings = self._settings_for(image, name)
            for index in range(len(topic.partitions)):
                self._host_if_ours(topic, index, settings)
        for name, index in delta.partitions_created:
            self._host_if_ours(image.topics[name], index, self._settings_for(image, name))
        for name, index in delta.partitions_changed:
            hosted = self._partitions.by_name(name, index)
            if hosted is not None:
                hosted.replica.assign(_assignment(image.topics[name].partitions[index]))
        if delta.topics_deleted:
            self._topics_deleted(frozenset(topic.name for topic in delta.topics_deleted))
        self._configure(delta.configs_changed, image)
        if delta.topics_created or delta.partitions_created:
            self._sync_created()

    def retry(self, image: MetadataImage) -> None:
        """Create what there was no space for when the metadata asked for it."""
        for name, index in list(self._missing):
            topic = image.topic(name)
            if topic is not None and self._partitions.by_name(name, index) is None:
                self._host_if_ours(topic, index, self._settings_for(image, name))
            if topic is None or self._partitions.by_name(name, index) is not None:
                del self._missing[name, index]
        self._sync_created()

    @property
    def is_complete(self) -> bool:
        """Everything that metadata puts on this node is hosted."""
        return not self._missing

    def _host_if_ours(self, topic: TopicImage, index: int, settings: TopicSettings) -> None:
        if self._node_id in topic.partitions[index].replicas:
            self._host(topic, index, settings, None)

    def _host(
        self, topic: TopicImage, index: int, settings: TopicSettings, log: PartitionLog | None
    ) -> None:
        if log is None:
            log = self._create(topic, index, settings)
            if log is None:
                return
        else:
            log.configure(settings.log)
        replica = Partition(
            _assignment(topic.partitions[index]),
            node_id=self._node_id,
            min_insync_replicas=settings.min_insync_replicas,
            high_watermark=log.log_start_offset,
        )
        hosted = Hosted(log, replica, settings.policy)
        self._partitions.add(hosted)
        coordinator = self._coordinators.get(topic.name)
        if coordinator is not None and replica.is_leader:
            coordinator.adopt(hosted)

    def _create(
        self, topic: TopicImage, index: int, settings: TopicSettings
    ) -> PartitionLog | None:
        """An empty log in the usable directory with the fewest, as Kafka places them."""
        usable = [entry for entry in self._directories if entry.offline_reason is None]
        if not usable:
            return None
        directory = min(usable, key=lambda entry: entry.log_count)
        try:
            return directory.create(topic.name, index, topic.topic_id, settings.log)
        except LogDirectoryFailed as failure:
            self._failed(failure)
        except DiskFull as full:
            if (topic.name, index) not in self._missing:  # told once, tried again by the clock
                self._missing[topic.name, index] = None
                facts: dict[str, int | str] = {
                    "topic": topic.name,
                    "partition": index,
                    "reason": str(full),
                }
                self._note(
                    Note(event="partition_not_created", path=full.path, facts=facts, severe=True)
                )
        return None

    def _remove(self, topic: TopicImage) -> None:
        for index in range(len(topic.partitions)):
            hosted = self._partitions.by_id(topic.topic_id, index)
            if hosted is None:
                continue
            coordinator = self._coordinators.get(topic.name)
            if coordinator is not None:
                coordinator.drop(index)
            self._partitions.remove(hosted)
            try:
                self._directory_of(hosted.log).delete(hosted.log)
            except LogDirectoryFailed as failure:
                self._failed(failure)

    def _configure(self, changed: Sequence[ConfigResource], image: MetadataImage) -> None:
        topics = {
            ALL_TOPICS if resource.type == ConfigResourceType.BROKER else resource.name
            for resource in changed
            if resource.type in (ConfigResourceType.BROKER, ConfigResourceType.TOPIC)
        }
        if not topics:
            return
        settings: dict[str, TopicSettings] = {}
        for hosted in self._partitions:
            if ALL_TOPICS not in topics and hosted.topic not in topics:
                continue
            if hosted.topic not in settings:
                settings[hosted.topic] = self._settings_for(image, hosted.topic)
            new = settings[hosted.topic]
            hosted.log.configure(new.log)
            hosted.policy = new.policy
            hosted.replica.min_insync_replicas = new.min_insync_replicas

    def _sync_created(self) -> None:
        for directory in self._directories:
            if directory.offline_reason is None:
                try:
                    directory.sync_created()
                except LogDirectoryFailed as failure:
                    self._failed(failure)

    def _directory_of(self, log: PartitionLog) -> LogDirectory:
        return next(entry for entry in self._directories if holds(entry, log))


def _assignment(partition: PartitionImage) -> Assignment:
    return Assignment(
        replicas=partition.replicas,
        isr=partition.isr,
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
    )
