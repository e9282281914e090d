"""Feature levels change with Kafka's checks and words."""

import pytest

from headwater.core_log.controller.feature_updates import initial_features, update_features
from headwater.core_log.controller.image import MetadataImage
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from headwater.core_log.protocol.metadata.feature_level_record import FeatureLevelRecord

from .cluster import CONFIG, after, carried_out, cluster

IMAGE = after(
    cluster(),
    [
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        FeatureLevelRecord(name="group.version", feature_level=1),
        FeatureLevelRecord(name="transaction.version", feature_level=2),
    ],
)
PREFIX = "The update failed for all features since the following feature had an error: "


def request(*updates: tuple[str, int, int], validate_only: bool = False) -> UpdateFeaturesRequest:
    return UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
            for name, level, kind in updates
        ],
        validate_only=validate_only,
    )


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        (
            ("metadata.version", 31, 1),
            (
                "Invalid update version 31 for feature metadata.version. Local controller 1 only "
                "supports versions 7-30"
            ),
        ),
        (
            ("metadata.version", 0, 3),
            (
                "Invalid update version 0 for feature metadata.version. Local controller 1 only "
                "supports versions 7-30"
            ),
        ),
        (
            ("metadata.version", 29, 1),
            (
                "Invalid update version 29 for feature metadata.version. Can't downgrade the "
                "version "
                "of this feature without setting the upgrade type to either safe or unsafe "
                "downgrade."
            ),
        ),
        (
            ("metadata.version", 29, 2),
            (
                "Unsupported metadata.version downgrade from 30 to 29. Refusing to perform the "
                "requested downgrade because it might delete metadata information."
            ),
        ),
        (
            ("metadata.version", 29, 3),
            (
                "Unsupported metadata.version downgrade from 30 to 29. Unsafe metadata downgrade "
                "is "
                "not supported in this version."
            ),
        ),
        (
            ("foo", 1, 1),
            (
                "Invalid update version 1 for feature foo. Local controller 1 does not support "
                "this "
                "feature."
            ),
        ),
        (
            ("group.version", 1, 9),
            (
                "Invalid update version 1 for feature group.version. The controller does not "
                "support "
                "the given upgrade type."
            ),
        ),
        (
            ("group.version", -1, 2),
            (
                "Invalid update version -1 for feature group.version. A feature version cannot be "
                "less than 0."
            ),
        ),
        (
            ("kraft.version", 1, 1),
            (
                "Invalid update version 1 for feature kraft.version. It is chosen when the data "
                "directory is formatted."
            ),
        ),
    ],
)
def test_an_update_is_refused_as_a_whole(update: tuple[str, int, int], reason: str) -> None:
    """One bad feature keeps the good one beside it from changing."""
    decision = update_features(IMAGE, request(("group.version", 0, 2), update), CONFIG, version=2)

    assert decision.records == ()
    assert decision.response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert decision.response.error_message == PREFIX + reason


def test_a_level_changes_up_and_down() -> None:
    """Level 0 is the absence of the feature; what stays the same writes nothing."""
    lowered = update_features(
        IMAGE, request(("transaction.version", 0, 2), ("group.version", 1, 1)), CONFIG, version=2
    )

    assert lowered.response.error_code == 0
    assert lowered.response.results == []
    assert len(lowered.records) == 1
    image = carried_out(IMAGE, lowered)
    assert "transaction.version" not in image.features.levels
    assert image.features.levels["group.version"] == 1


def test_old_versions_ask_and_answer_otherwise() -> None:
    """Version 0 has allow_downgrade in place of a type, and up to 1 each feature has a result."""
    asked = request(("group.version", 0, 1))
    asked.feature_updates[0].allow_downgrade = True

    decision = update_features(IMAGE, asked, CONFIG, version=0)

    assert [(r.feature, r.error_code) for r in decision.response.results] == [("group.version", 0)]
    assert len(decision.records) == 1


def test_only_validated_nothing_is_written() -> None:
    """The answer is the same."""
    decision = update_features(
        IMAGE, request(("group.version", 0, 2), validate_only=True), CONFIG, version=2
    )

    assert decision.response.error_code == 0
    assert decision.records == ()


def test_new_metadata_gets_its_first_levels_once() -> None:
    """A cluster that has levels keeps them."""
    fresh = MetadataImage(cluster_id="cluster")

    first = initial_features(fresh)

    assert carried_out(fresh, first).features.levels == {
        "metadata.version": 30,
        "group.version": 1,
        "transaction.version": 2,
    }
    assert initial_features(IMAGE).records == ()
