"""A TCP proxy that is a bad network between Kafka's clients and one broker, and knows requests.

    broker_port = free_port()
    with FaultProxy(("127.0.0.1", broker_port), seed=7) as proxy:
        broker = BrokerProcess(directory, port=broker_port, advertised=proxy.bootstrap)
        ...
        held = proxy.hold(api_key=26, cuts_client=True)  # the next EndTxn
        held.wait_until_caught(10)  # ... its client goes on over a new connection
        held.release()  # ... and now it arrives, on the old one

``weather`` says what goes wrong by itself, ``line`` carries one connection, ``proxy`` has them all.
``python -m headwater.core_log.testing.proxy --help`` runs one for clients of any kind.
"""

from .held import Held
from .line import Direction
from .proxy import FaultProxy
from .weather import CALM, Late, Weather

__all__ = ["CALM", "Direction", "FaultProxy", "Held", "Late", "Weather"]
