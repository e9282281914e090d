"""Kafka's wire protocol: message classes, their codecs, frames, and the table of APIs."""
