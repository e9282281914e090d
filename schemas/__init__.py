"""Schemas: a registry that speaks Confluent's REST protocol, its rules, and serializers."""
