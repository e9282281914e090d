"""``python -m headwater.examples.flights``: the demo's command line."""

import argparse
import sys
import time
from pathlib import Path

from .dataset import DatasetMissing
from .demo import Options, run
from .story import DemoFailed


def main() -> int:
    """Run the demo; 0 when every flight was counted once and the sums agree with pandas'."""
    parser = argparse.ArgumentParser(prog="flights", description=__doc__)
    parser.add_argument("--bootstrap", help="HOST:PORT of a Kafka cluster; default: start a broker")
    parser.add_argument("--directory", type=Path, help="folder to make; default: under demo-output")
    parser.add_argument("--flights", type=int, help="use the first N flights only")
    arguments = parser.parse_args()
    stamp = time.strftime("%Y%m%d-%H%M%S")
    directory = arguments.directory or Path("demo-output") / f"flights-{stamp}"
    if directory.exists():
        parser.error(f"{directory} exists; name a folder that does not")
    # A cluster of somebody else's may know the name already; a broker of ours is empty.
    topic = "flights" if arguments.bootstrap is None else f"flights-{stamp}"
    options = Options(
        directory=directory,
        bootstrap=arguments.bootstrap,
        topic=topic,
        flight_limit=arguments.flights,
    )
    try:
        return 0 if run(options) else 1
    except (DemoFailed, DatasetMissing) as error:
        sys.stderr.write(f"the demo failed: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
