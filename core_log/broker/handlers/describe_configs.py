"""DescribeConfigs (key 32), versions 1-4: values, where they come from, what else they could be."""

from ...controller.configs import describe_configs
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ..broker import Broker
from ..call import Call
from ..handler import Handler


def serve(broker: Broker, request: DescribeConfigsRequest, call: Call) -> DescribeConfigsResponse:
    """The configurations of each resource asked for."""
    del call
    return describe_configs(broker.image, request, broker.controller_config)


HANDLER = Handler(api=API_BY_KEY[32], version_min=1, version_max=4, serve=serve)
