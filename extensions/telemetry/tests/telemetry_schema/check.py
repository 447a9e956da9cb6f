"""Judges what `whittle::telemetry` writes, by the published packages of OpenTelemetry and Prometheus.

    check.py PROGRAM FOLDER

FOLDER holds what PROGRAM (print.cpp) wrote: traces.json, logs.json, metrics.json, metrics.txt.
"""

import base64
import copy
import importlib
import importlib.metadata
import json
import pathlib
import pkgutil
import re
import subprocess
import sys

import opentelemetry.semconv._incubating.attributes as incubating
import opentelemetry.semconv.attributes as stable
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as Field
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from prometheus_client.parser import text_string_to_metric_families

REQUESTS = {
    "traces": trace.ExportTraceServiceRequest,
    "logs": logs.ExportLogsServiceRequest,
    "metrics": metrics.ExportMetricsServiceRequest,
}
ANSWERS = {
    "rejected_spans": (trace.ExportTraceServiceResponse, "partial_success"),
    "rejected_log_records": (logs.ExportLogsServiceResponse, "partial_success"),
    "rejected_data_points": (metrics.ExportMetricsServiceResponse, "partial_success"),
}
IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
WIDE = {Field.CPPTYPE_INT64, Field.CPPTYPE_UINT64}
SEVERITY = {5: "DEBUG", 9: "INFO", 13: "WARN", 17: "ERROR"}


class Refused(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Refused(text)


# ---- the protocol


def to_protobuf_json(value, descriptor):
    """The same with ids in base64; refuses what protobuf's JSON takes but the protocol's does not."""
    result = {}
    for name, child in value.items():
        field = next((f for f in descriptor.fields if f.json_name == name), None)
        require(field is not None, f"{descriptor.name} has no field {name}")
        items = child if isinstance(child, list) else [child]
        for item in items:
            if name in IDS:
                require(re.fullmatch(f"[0-9a-f]{{{IDS[name]}}}", item), f"{name}: {item} is no id in lower-case hex")
                require(int(item, 16) != 0, f"{name} is all zeros")
            elif field.cpp_type in WIDE:
                require(isinstance(item, str), f"{name}: a 64-bit number is text")
            elif field.cpp_type == Field.CPPTYPE_ENUM:
                require(type(item) is int, f"{name}: an enumeration is a number")
        if name in IDS:
            converted = [base64.b64encode(bytes.fromhex(item)).decode() for item in items]
        elif field.cpp_type == Field.CPPTYPE_MESSAGE:
            converted = [to_protobuf_json(item, field.message_type) for item in items]
        else:
            converted = items
        result[name] = converted if isinstance(child, list) else converted[0]
    return result


def parse(signal, document):
    message = REQUESTS[signal]()
    try:
        converted = to_protobuf_json(document, message.DESCRIPTOR)
        return json_format.ParseDict(converted, message, ignore_unknown_fields=False)
    except (json_format.ParseError, AttributeError, TypeError) as error:
        raise Refused(str(error)) from error


def check_spans(message):
    spans = [s for r in message.resource_spans for scope in r.scope_spans for s in scope.spans]
    ids = {s.span_id for s in spans}
    require(len(ids) == len(spans), "a span id comes twice")
    for span in spans:
        require(span.name, "a span has no name")
        require(0 < span.start_time_unix_nano <= span.end_time_unix_nano, f"{span.name} ends before it starts")
        if span.kind == span.SPAN_KIND_CLIENT:
            require(span.parent_span_id in ids, "a model call has no parent")
    return len(spans)


def check_records(message):
    records = [x for r in message.resource_logs for scope in r.scope_logs for x in scope.log_records]
    for record in records:
        require(record.event_name.startswith("whittle."), "a record is no event")
        require(SEVERITY[record.severity_number] == record.severity_text, "severity and its text differ")
        require(record.time_unix_nano > 0, "a record has no time")
    return len(records)


def conventional_metrics():
    """Units of the conventions' metrics, by name."""
    units = {}

    class Meter:
        def create_histogram(self, name, description, unit):
            units[name] = unit

    for name in dir(gen_ai_metrics):
        if name.startswith("create_"):
            getattr(gen_ai_metrics, name)(Meter())
    return units


def check_metrics(message):
    known = conventional_metrics()
    points = 0
    for metric in [m for r in message.resource_metrics for scope in r.scope_metrics for m in scope.metrics]:
        if metric.name.startswith("whittle."):
            require(metric.unit and metric.description, f"{metric.name} has no unit or description")
        else:
            require(known.get(metric.name) == metric.unit, f"{metric.name} with {metric.unit} is not of the conventions")
        data = getattr(metric, metric.WhichOneof("data"))
        points += len(data.data_points)
        for point in data.data_points:
            if metric.HasField("histogram"):
                require(len(point.bucket_counts) == len(point.explicit_bounds) + 1, "buckets and bounds do not fit")
                require(sum(point.bucket_counts) == point.count, "buckets do not sum up")
                require(list(point.explicit_bounds) == sorted(set(point.explicit_bounds)), "bounds do not ascend")
        require(metric.HasField("gauge") or data.aggregation_temporality == data.DESCRIPTOR.file.pool.FindEnumTypeByName(
            "opentelemetry.proto.metrics.v1.AggregationTemporality").values_by_name[
                "AGGREGATION_TEMPORALITY_CUMULATIVE"].number, f"{metric.name} is not cumulative")
    return points


CHECKS = {"traces": check_spans, "logs": check_records, "metrics": check_metrics}


# ---- the conventions


def conventional_attributes():
    names = {"otel.metric.overflow"}  # of the metrics SDK's specification, "Overflow attribute"
    for package in (stable, incubating):
        for module in pkgutil.iter_modules(package.__path__):
            members = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
            names |= {v for k, v in members.items() if k.isupper() and isinstance(v, str)}
    return names


VALUES = {
    "gen_ai.operation.name": {v.value for v in gen_ai.GenAiOperationNameValues},
    "gen_ai.provider.name": {v.value for v in gen_ai.GenAiProviderNameValues},
    "gen_ai.token.type": {v.value for v in gen_ai.GenAiTokenTypeValues},
}


def attributes_in(value):
    if isinstance(value, dict):
        own = value.get("attributes", [])
        require(len({one["key"] for one in own}) == len(own), f"an attribute comes twice: {own}")
        yield from own
        for child in value.values():
            yield from attributes_in(child)
    elif isinstance(value, list):
        for child in value:
            yield from attributes_in(child)


def check_attributes(document, known):
    names = set()
    for one in attributes_in(document):
        name = one["key"]
        names.add(name)
        require(re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", name), f"{name} is no name of an attribute")
        require(name.startswith("whittle.") or name in known, f"{name} is not of the conventions")
        if name in VALUES:
            require(one["value"]["stringValue"] in VALUES[name], f"{name}: {one['value']} is not of the conventions")
    return names


# ---- broken documents, which must be refused


def first(document, *path):
    for step in path:
        document = document[step]
    return document


SPAN = ("resourceSpans", 0, "scopeSpans", 0, "spans", 0)
BREAKS = [
    ("an unknown field", lambda d: first(d, *SPAN).update(colour="red")),
    ("snake case", lambda d: first(d, *SPAN).update(trace_state="a=b")),
    ("an enumeration by name", lambda d: first(d, *SPAN).update(kind="SPAN_KIND_INTERNAL")),
    ("an id in upper case", lambda d: first(d, *SPAN).update(spanId="ABCDEF0123456789")),
    ("a short id", lambda d: first(d, *SPAN).update(traceId="ab")),
    ("an id of zeros", lambda d: first(d, *SPAN).update(spanId="0" * 16)),
    ("a 64-bit number that is no text", lambda d: first(d, *SPAN).update(startTimeUnixNano=1)),
    ("a time that is no number", lambda d: first(d, *SPAN).update(startTimeUnixNano="soon")),
    ("two spans with one id", lambda d: first(d, *SPAN[:-1]).append(first(d, *SPAN))),
    ("an attribute twice", lambda d: first(d, *SPAN, "attributes").append(first(d, *SPAN, "attributes", 0))),
    ("an attribute that nobody knows", lambda d: first(d, *SPAN, "attributes", 0).update(key="gen_ai.colour")),
    ("a provider that nobody knows", lambda d: first(d, *SPAN, "attributes").append(
        {"key": "gen_ai.provider.name", "value": {"stringValue": "nobody"}})),
]


def is_refused(document, known):
    try:
        check_spans(parse("traces", document))
        check_attributes(document, known)
    except Refused:
        return True
    return False


# ---- answers


def check_answers(program, folder):
    for field, (response, partial) in ANSWERS.items():
        message = response()
        setattr(getattr(message, partial), field, 3)
        getattr(message, partial).error_message = "too old"
        path = folder / "answer.json"
        path.write_text(json_format.MessageToJson(message))
        said = subprocess.run([program, "answer", path], check=True, capture_output=True, text=True).stdout
        require(said.startswith("3\n") and "too old" in said, f"{field} was read as {said!r}")


# ---- Prometheus


def check_prometheus(text):
    families = list(text_string_to_metric_families(text))
    require(families, "there is no metric")
    samples = 0
    for family in families:
        require(family.documentation and family.type in ("counter", "gauge", "histogram"), f"{family.name} has no type")
        counts = {}
        for sample in family.samples:
            samples += 1
            labels = {k: v for k, v in sample.labels.items() if k != "le"}
            series = counts.setdefault(tuple(sorted(labels.items())), {"buckets": []})
            if sample.name.endswith("_bucket"):
                series["buckets"].append((float(sample.labels["le"]), sample.value))
            elif sample.name.endswith("_count"):
                series["count"] = sample.value
        for series in counts.values():
            if family.type == "histogram":
                buckets = series["buckets"]
                require(buckets == sorted(buckets), f"{family.name}: buckets are not cumulative")
                require(buckets[-1] == (float("inf"), series["count"]), f"{family.name}: the last bucket is not all")
    named = {f.name: f for f in families}
    saved = {s.labels["middleware"]: s.value for s in named["whittle_tokens_saved"].samples}
    require(saved == {"summarization": 70000.0}, f"saved: {saved}")
    sources = {s.labels["source"] for s in named["whittle_events"].samples}
    require('quote" \\ \n \ufffd' in sources, f"a hostile label came out as {sources}")
    return samples


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    known = conventional_attributes()
    documents = {signal: json.loads((folder / f"{signal}.json").read_bytes()) for signal in REQUESTS}
    counts, names = {}, set()
    for signal, document in documents.items():
        counts[signal] = CHECKS[signal](parse(signal, document))
        names |= check_attributes(document, known)
    for what, change in BREAKS:
        broken = copy.deepcopy(documents["traces"])
        change(broken)
        require(is_refused(broken, known), f"not refused: {what}")
    check_answers(program, folder)
    samples = check_prometheus((folder / "metrics.txt").read_text(encoding="utf-8"))
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in (
        "opentelemetry-proto", "opentelemetry-semantic-conventions", "prometheus_client"))
    conventional = sorted(n for n in names if not n.startswith("whittle."))
    print(f"telemetry_schema: {versions}: {counts['traces']} spans, {counts['logs']} records and {counts['metrics']} "
          f"points fit the protocol, {len(BREAKS)} broken requests do not; {len(conventional)} names are of the "
          f"conventions, {len(names) - len(conventional)} ours; {samples} samples of Prometheus")


try:
    main()
except Refused as refused:
    sys.exit(f"telemetry_schema: {refused}")
