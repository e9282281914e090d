"""Settings of the transaction coordinator."""

import pytest

from headwater.core_log.transactions.config import TransactionConfig


def test_defaults_are_those_of_kafka() -> None:
    """Of 4.3; the other settings bound what Kafka leaves open."""
    config = TransactionConfig()
    assert config.transaction_timeout_ms_max == 900_000
    assert config.transactional_id_expiration_ms == 604_800_000
    assert config.abort_check_ms == 10_000
    assert config.expiration_check_ms == 3_600_000


@pytest.mark.parametrize("name", TransactionConfig.__slots__)
def test_no_setting_may_be_zero(name: str) -> None:
    """A check every zero milliseconds would never end."""
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        TransactionConfig(**{name: 0})
    TransactionConfig(**{name: 1})
