"""Record what every spec, or the ones named, finds now: ``python -m tests.unchanged.record [NAME …]``.

Record again only together with the reason why a number changed; until then the reasons stand in ``CHANGED``
of test_unchanged.py. Specs on the real data beside the checkout are left as they are where it is absent.
"""

from __future__ import annotations

import sys
import time

from tests.conftest import SHARED
from tests.unchanged.running import NAMES, RECORDED, needs_shared, record, run


def main(names: list[str]) -> None:
    RECORDED.mkdir(exist_ok=True)
    for name in names or NAMES:
        if needs_shared(name) and not SHARED.is_dir():
            print(f"{name}: left as it is, for want of the shared data")
            continue
        start = time.monotonic()
        record(name, run(name))
        size = (RECORDED / f"{name}.json.gz").stat().st_size
        print(f"{name}: {time.monotonic() - start:.1f} s, {size:,} bytes", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
