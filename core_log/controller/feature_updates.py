"""UpdateFeatures, and the feature levels a new cluster begins with (KIP-584).

Pure. The request succeeds or fails as a whole.
"""

from enum import IntEnum

from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ..protocol.metadata.feature_level_record import FeatureLevelRecord
from .decision import ControllerConfig, Decision
from .features import INITIAL, KRAFT_VERSION, METADATA_VERSION, SUPPORTED
from .image import MetadataImage


class UpgradeType(IntEnum):
    """How much an update may lose."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def initial_features(image: MetadataImage) -> Decision[None]:
    """Feature levels for metadata that has none yet."""
    if image.features.levels:
        return Decision(response=None)
    records = tuple(
        FeatureLevelRecord(name=name, feature_level=level) for name, level in INITIAL.items()
    )
    return Decision(records=records, response=None)


def update_features(
    image: MetadataImage, request: UpdateFeaturesRequest, config: ControllerConfig, *, version: int
) -> Decision[UpdateFeaturesResponse]:
    """Set feature levels; before version 2 the response lists each feature."""
    records: list[FeatureLevelRecord] = []
    try:
        for update in request.feature_updates:
            _check(image, update, config)
            if update.max_version_level != _level(image, update.feature):
                records.append(
                    FeatureLevelRecord(name=update.feature, feature_level=update.max_version_level)
                )
    except ApiError as error:
        message = (
            "The update failed for all features since the following feature had an error: "
            f"{error.message}"
        )
        return Decision(
            response=UpdateFeaturesResponse(error_code=error.code, error_message=message)
        )
    results = [
        UpdatableFeatureResult(feature=update.feature, error_message=None)
        for update in request.feature_updates
    ]
    return Decision(
        records=() if request.validate_only else tuple(records),
        response=UpdateFeaturesResponse(error_message=None, results=results if version < 2 else []),
    )


def _check(image: MetadataImage, update: FeatureUpdateKey, config: ControllerConfig) -> None:
    """Pass when the feature may get that level. Raises INVALID_UPDATE_VERSION."""
    feature, level = update.feature, update.max_version_level
    upgrade_type = UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else update.upgrade_type
    if upgrade_type not in tuple(UpgradeType):
        raise _invalid(update, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _invalid(update, "A feature version cannot be less than 0.")
    supported = SUPPORTED.get(feature)
    node = f"Local controller {config.node_id}"
    if supported is None:
        raise _invalid(update, f"{node} does not support this feature.")
    low, high = supported
    current = _level(image, feature)
    if level != current and not low <= level <= high:
        raise _invalid(update, f"{node} only supports versions {low}-{high}")
    if feature == KRAFT_VERSION and level != current:
        raise _invalid(update, "It is chosen when the data directory is formatted.")
    if level >= current:
        return
    if upgrade_type == UpgradeType.UPGRADE:
        raise _invalid(
            update,
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade.",
        )
    if feature == METADATA_VERSION:
        _refuse_metadata_downgrade(current, level, upgrade_type)


def _refuse_metadata_downgrade(current: int, level: int, upgrade_type: int) -> None:
    reason = (
        "Unsafe metadata downgrade is not supported in this version."
        if upgrade_type == UpgradeType.UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata "
        "information."
    )
    raise ApiError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Unsupported metadata.version downgrade from {current} to {level}. {reason}",
    )


def _level(image: MetadataImage, feature: str) -> int:
    return image.features.levels.get(feature, 0)


def _invalid(update: FeatureUpdateKey, reason: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Invalid update version {update.max_version_level} for feature {update.feature}. {reason}",
    )
