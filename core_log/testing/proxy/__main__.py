"""``python -m headwater.core_log.testing.proxy``: a bad network in front of any Kafka broker."""

import argparse
import random
import sys
import time
from collections.abc import Callable

from ..process import HOST
from .line import Direction
from .proxy import FaultProxy
from .weather import Late, Range, Weather

RANGE = "LEAST:MOST"
EPILOG = """\
The broker has to advertise the proxy's address, or its clients go round the proxy:
  python -m headwater.core_log.testing.proxy --broker 127.0.0.1:9092 --port 19092 \\
      --latency-ms 0:20 --late 26:0.1:500:3000 --reset-every-seconds 5 &
  headwater broker --advertised-listener PLAINTEXT://127.0.0.1:19092
API keys: 0 Produce, 1 Fetch, 3 Metadata, 22 InitProducerId, 24 AddPartitionsToTxn, 26 EndTxn,
28 TxnOffsetCommit.
"""


def main() -> int:
    options = _parser().parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - faults, not secrets
    weather = Weather(
        latency_ms=options.latency_ms,
        slice_bytes=options.slice_bytes,
        reset_share=options.reset_share,
        late=tuple(options.late),
    )
    proxy = FaultProxy(options.broker, port=options.port, seed=options.seed, weather=weather)
    try:
        with proxy:
            _say(f"seed {options.seed}: clients at {proxy.bootstrap}")
            _storm(proxy, rng, options)
    except OSError as error:
        sys.stderr.write(f"cannot listen on {HOST}:{options.port}: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _storm(proxy: FaultProxy, rng: random.Random, options: argparse.Namespace) -> None:
    """Resets and stalls at random moments, about as often as asked, until the time is over."""
    started = time.monotonic()
    while options.seconds is None or time.monotonic() - started < options.seconds:
        time.sleep(0.1)
        if _happens(rng, options.reset_every_seconds):
            _say(f"reset {proxy.reset(share=rng.random())} connections")
        if _happens(rng, options.stall_every_seconds):
            direction = rng.choice(list(Direction))
            _say(f"stalled {proxy.stall(direction, share=rng.random())} connections {direction}")
            time.sleep(rng.randint(*options.stall_ms) / 1000)
            proxy.resume()


def _happens(rng: random.Random, every_seconds: float | None) -> bool:
    return every_seconds is not None and rng.random() < 0.1 / every_seconds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headwater.core_log.testing.proxy",
        description="A TCP proxy on loopback that delays, stalls, cuts and resets connections to "
        "one Kafka broker, and lets single requests arrive late.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--broker", type=_address, required=True, metavar="HOST:PORT", help="where it listens"
    )
    parser.add_argument("--port", type=int, default=0, help="of the proxy; a free one by default")
    parser.add_argument(
        "--seed", type=int, default=random.SystemRandom().randrange(2**32), help="replays"
    )
    parser.add_argument("--seconds", type=float, help="end by itself after that time")
    parser.add_argument(
        "--latency-ms", default=(0, 0), type=_range, metavar=RANGE, help="of every frame"
    )
    parser.add_argument(
        "--slice-bytes", type=_range, metavar=RANGE, help="write frames in such pieces"
    )
    parser.add_argument(
        "--late",
        type=_late,
        action="append",
        default=[],
        metavar="API_KEY:SHARE:LEAST_MS:MOST_MS",
        help="that share of an API's requests arrives so late, on a connection that its client has "
        "lost at once; may be given several times",
    )
    parser.add_argument("--reset-share", type=float, default=0.0, help="of all requests")
    parser.add_argument("--reset-every-seconds", type=float, help="some connections; an average")
    parser.add_argument("--stall-every-seconds", type=float, help="one way; an average")
    parser.add_argument(
        "--stall-ms",
        default=(100, 2_000),
        type=_range,
        metavar=RANGE,
        help="how long a stall lasts",
    )
    return parser


def _parsed(what: str) -> Callable[[Callable[[str], object]], Callable[[str], object]]:
    """Says what was expected where *parse* raises ValueError."""

    def wrap(parse: Callable[[str], object]) -> Callable[[str], object]:
        def parse_or_explain(text: str) -> object:
            try:
                return parse(text)
            except ValueError as error:
                raise argparse.ArgumentTypeError(f"{text!r} is not {what}") from error

        return parse_or_explain

    return wrap


@_parsed("HOST:PORT")
def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host:
        raise ValueError(text)
    return host, int(port)


@_parsed("LEAST:MOST, two whole numbers in order")
def _range(text: str) -> Range:
    least, most = (int(part) for part in text.split(":"))
    if not 0 <= least <= most:
        raise ValueError(text)
    return least, most


@_parsed("API_KEY:SHARE:LEAST_MS:MOST_MS")
def _late(text: str) -> Late:
    api_key, share, least, most = text.split(":")
    late = Late(
        api_key=int(api_key),
        share=float(share),
        delay_ms=(int(least), int(most)),
        cuts_client=True,
    )
    if not (0 <= late.share <= 1 and 0 <= late.delay_ms[0] <= late.delay_ms[1]):
        raise ValueError(text)
    return late


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
