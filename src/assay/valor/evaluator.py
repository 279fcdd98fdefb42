"""Valor's evaluator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from assay.api import check_skills, run_sync
from assay.asks import Judge
from assay.errors import ConfigError, MissingField
from assay.metrics import Metric as NativeMetric
from assay.metrics import load_metric
from assay.metrics.bleu import bleu_corpus, bleu_stats
from assay.metrics.rouge import rouge_scores
from assay.runner import closure, score_sample
from assay.sample import Sample
from assay.score import Score
from assay.valor.clients import ClientWrapper, MistralWrapper, OpenAIWrapper, client_judge
from assay.valor.records import Metric, MetricType, QueryResponse
from assay.valor.shapes import as_error, as_sample, as_value, right_answers
from assay.valor.table import LLM_METRICS, Entry

ROUGE_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
BLEU_4 = (0.25, 0.25, 0.25, 0.25)


class Evaluator:
    """Valor's metrics of one response at a time.

    ``client``: a callable with ``model_name`` (see `ClientWrapper`), an `OpenAIWrapper` or
    `MistralWrapper`, or a judge of assay's. ``default_system_prompt`` is put before the
    instructions; a judge has its own. ``retries`` is reported with the metrics and does nothing:
    what a reply leaves out is asked for once more, and passing faults of an endpoint are waited
    out, in any case. ``concurrency`` is the number of calls of your own client at once;
    ``packed`` puts all chunks into one call.

    Every metric raises ValueError without a client, without a context that it needs, and where
    Valor does; what a judge fails on is the value of the metric instead. JudgeUnusable (wrong
    key, unknown model) is raised.
    """

    def __init__(
        self,
        client: ClientWrapper | OpenAIWrapper | Judge | None = None,
        retries: int = 0,
        default_system_prompt: str | None = None,
        *,
        concurrency: int = 1,
        packed: bool = True,
    ) -> None:
        self.client = client
        self.retries = retries
        self.default_system_prompt = default_system_prompt
        self._judge: Judge | None
        if client is None:
            self._judge = None
        elif isinstance(client, OpenAIWrapper):
            self._judge = client.judge(default_system_prompt, packed=packed)
        elif hasattr(client, "answer"):
            self._judge = cast("Judge", client)
        else:
            self._judge = client_judge(
                client,
                default_system_prompt,
                concurrency=concurrency,
                packed=packed,
            )

    @classmethod
    def openai(
        cls,
        model_name: str = "gpt-3.5-turbo",
        api_key: str | None = None,
        retries: int = 0,
        seed: int | None = None,
        default_system_prompt: str | None = None,
        **options: Any,
    ) -> Evaluator:
        """An evaluator on a model at OpenAI; options are those of `OpenAIWrapper`.

        Raises ValueError for a seed with retries, as Valor does.
        """
        if seed is not None and retries != 0:
            raise ValueError("a seed gives the same reply again: retries must be 0 with a seed")
        client = OpenAIWrapper(model_name, api_key, seed, **options)
        return cls(client, retries, default_system_prompt)

    @classmethod
    def mistral(
        cls,
        model_name: str = "mistral-small-latest",
        api_key: str | None = None,
        retries: int = 0,
        default_system_prompt: str | None = None,
        **options: Any,
    ) -> Evaluator:
        """An evaluator on a model at Mistral; options are those of `OpenAIWrapper`."""
        return cls(MistralWrapper(model_name, api_key, **options), retries, default_system_prompt)

    @property
    def judge(self) -> Judge:
        """What gives claims, verdicts and labels; raises ValueError without a client."""
        if self._judge is None:
            raise ValueError("the metrics that an LLM guides need a client")
        return self._judge

    def compute_answer_correctness(self, response: QueryResponse) -> Metric:
        """F1 of statements against a right answer, the best of several."""
        return self._one(MetricType.AnswerCorrectness, response)

    def compute_answer_relevance(self, response: QueryResponse) -> Metric:
        """Share of the answer's statements that are relevant to the query."""
        return self._one(MetricType.AnswerRelevance, response)

    def compute_bias(self, response: QueryResponse) -> Metric:
        """Share of the answer's opinions that are biased; 0 without opinions."""
        return self._one(MetricType.Bias, response)

    def compute_context_precision(self, response: QueryResponse) -> Metric:
        """Mean precision over the ranks of the chunks that hold part of a right answer."""
        return self._one(MetricType.ContextPrecision, response)

    def compute_context_recall(self, response: QueryResponse) -> Metric:
        """Share of a right answer's statements that the chunks entail, the best of several."""
        return self._one(MetricType.ContextRecall, response)

    def compute_context_relevance(self, response: QueryResponse) -> Metric:
        """Share of the chunks that are relevant to the query."""
        return self._one(MetricType.ContextRelevance, response)

    def compute_faithfulness(self, response: QueryResponse) -> Metric:
        """Share of the answer's claims that the chunks entail; 1 without claims."""
        return self._one(MetricType.Faithfulness, response)

    def compute_hallucination(self, response: QueryResponse) -> Metric:
        """Share of the chunks that the answer contradicts."""
        return self._one(MetricType.Hallucination, response)

    def compute_summary_coherence(self, response: QueryResponse) -> Metric:
        """Rating from 1 to 5 of the response as a summary of the query."""
        return self._one(MetricType.SummaryCoherence, response)

    def compute_toxicity(self, response: QueryResponse) -> Metric:
        """Share of the answer's opinions that are toxic; 0 without opinions."""
        return self._one(MetricType.Toxicity, response)

    @staticmethod
    def compute_rouge(
        response: QueryResponse,
        rouge_types: Iterable[str] = ROUGE_TYPES,
        use_stemmer: bool = False,
    ) -> list[Metric]:
        """ROUGE F-measure against the best right answer, a metric a type."""
        types = list(rouge_types)
        scores = rouge_scores(
            response.response, right_answers(response), types, stemmer=use_stemmer
        )
        return [
            Metric(
                MetricType.ROUGE,
                scores[type_].fmeasure,
                {"rouge_type": type_, "use_stemmer": use_stemmer},
            )
            for type_ in types
        ]

    @staticmethod
    def compute_sentence_bleu(response: QueryResponse, weights: Sequence[float] = BLEU_4) -> Metric:
        """BLEU against all right answers together, with a weight for each n-gram order."""
        if not weights:
            raise ValueError("BLEU needs at least one weight")
        stats = bleu_stats(response.response, right_answers(response), order=len(weights))
        value = bleu_corpus([stats], weights)
        return Metric(MetricType.BLEU, value, {"weights": list(weights)})

    def compute_all(
        self,
        response: QueryResponse,
        bleu_weights: Sequence[float] = BLEU_4,
        rouge_types: Iterable[str] = ROUGE_TYPES,
        rouge_use_stemmer: bool = False,
    ) -> dict[MetricType, list[Metric]]:
        """Every metric, by its type; claims and verdicts are asked for once for all of them.

        A metric that would raise by itself has the error as its value. Raises ValueError without
        a client.
        """
        out = {type_: [metric] for type_, metric in self._all(response).items()}
        plain: dict[MetricType, Callable[[], list[Metric]]] = {
            MetricType.ROUGE: lambda: self.compute_rouge(response, rouge_types, rouge_use_stemmer),
            MetricType.BLEU: lambda: [self.compute_sentence_bleu(response, bleu_weights)],
        }
        for type_, compute in plain.items():
            try:
                out[type_] = compute()
            except (ValueError, ConfigError) as error:
                out[type_] = [Metric(type_, as_error(error), {})]
        return out

    def _all(self, response: QueryResponse) -> dict[MetricType, Metric]:
        values: dict[MetricType, Any] = {}
        asked: dict[MetricType, NativeMetric] = {}
        sample = as_sample(response)
        for type_, entry in LLM_METRICS.items():
            try:
                values[type_] = entry.settled(response)
                if values[type_] is None:
                    asked[type_] = self._metric(entry, sample)
            except (ValueError, ConfigError) as error:
                values[type_] = as_error(error)
        for type_, score in self._scores(sample, asked).items():
            values[type_] = as_value(type_, score)
        return {type_: self._made(type_, value) for type_, value in values.items()}

    def _one(self, type_: MetricType, response: QueryResponse) -> Metric:
        entry, sample = LLM_METRICS[type_], as_sample(response)
        value: Any = entry.settled(response)
        if value is None:
            metric = self._metric(entry, sample)
            value = as_value(type_, self._scores(sample, {type_: metric})[type_])
        return self._made(type_, value)

    def _metric(self, entry: Entry, sample: Sample) -> NativeMetric:
        """The metric; raises ConfigError if the judge does not do what it takes.

        Raises ValueError if the response lacks a text, such as the query.
        """
        metric = load_metric(entry.native)
        try:
            closure(metric.needs, sample)
        except MissingField as error:
            raise ValueError(str(error)) from None
        check_skills({entry.native: metric}, [sample], self.judge)
        return metric

    def _scores(
        self, sample: Sample, metrics: Mapping[MetricType, NativeMetric]
    ) -> dict[MetricType, Score]:
        """The scores, of one evaluation."""
        judge = self.judge
        # A summary is held against the query, also where there are chunks.
        bare = sample.replace(contexts=None)
        groups: list[tuple[Sample, dict[str, NativeMetric]]] = [(sample, {}), (bare, {})]
        for type_, metric in metrics.items():
            groups[type_ is MetricType.SummaryCoherence][1][type_] = metric

        async def work() -> dict[MetricType, Score]:
            try:
                rows = await asyncio.gather(
                    *(score_sample(which, group, judge) for which, group in groups if group),
                    return_exceptions=True,  # so that none is still at work when one has failed
                )
            finally:
                await judge.aclose()
            out: dict[MetricType, Score] = {}
            for row in rows:
                if isinstance(row, BaseException):
                    raise row
                out |= {MetricType(name): score for name, score in row.scores.items()}
            return out

        return run_sync(work())

    def _made(self, type_: MetricType, value: Any) -> Metric:
        name = self.judge.name
        return Metric(type_, value, {"evaluator": name, "retries": self.retries})
