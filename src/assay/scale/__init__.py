"""Runs on many processes and machines: Ray over the shards of a run, and a function for Spark.

The folder of a run says what is scored and keeps what was; an engine only decides where each shard
is scored. A run may be begun by one engine and finished by another.
"""
