"""Part of the log: controller."""
