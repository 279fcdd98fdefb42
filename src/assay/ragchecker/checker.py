"""RAGChecker's evaluator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.api import check_skills, run_sync
from assay.asks import Judge
from assay.errors import ConfigError, DataError
from assay.metrics import Metric, load_metric
from assay.ragchecker.given import MATRICES, GivenJudge
from assay.ragchecker.judges import BatchFunction, Model, function_judge, two_judges
from assay.ragchecker.metrics import METRIC_GROUP_MAP, NATIVE, all_metrics, chosen_metrics
from assay.ragchecker.records import RAGResult, RAGResults
from assay.run import Row
from assay.runner import score_sample
from assay.score import Score
from assay.stats import summarise


class RAGChecker:
    """Scores RAGChecker's records by its eleven metrics.

    ``extractor_name`` and ``checker_name``: "embedded", "openai/MODEL" or a judge object; one
    of them does for both, none is the default judge. ``extractor_api_base`` and
    ``checker_api_base`` are URLs of OpenAI-compatible endpoints. The key is best left in
    $OPENAI_API_KEY; ``openai_api_key`` goes to a client of the openai package and is kept nowhere
    else. ``custom_llm_api_func`` answers a list of prompts by a list of replies.
    ``batch_size_checker`` records are in work at once.

    ``extractor_max_new_tokens``, ``batch_size_extractor``, ``joint_check`` and
    ``joint_check_num`` are taken and mean nothing here: how claims are packed into calls is the
    judge's business. Raises ConfigError for SageMaker's parameters and for unknown models.
    """

    def __init__(
        self,
        extractor_name: Model | None = None,
        checker_name: Model | None = None,
        *,
        extractor_max_new_tokens: int = 1000,
        extractor_api_base: str | None = None,
        checker_api_base: str | None = None,
        batch_size_extractor: int = 32,
        batch_size_checker: int = 32,
        openai_api_key: str | None = None,
        joint_check: bool = True,
        joint_check_num: int = 5,
        sagemaker_client: object = None,
        sagemaker_params: object = None,
        sagemaker_get_response_func: object = None,
        custom_llm_api_func: BatchFunction | None = None,
    ) -> None:
        if not (sagemaker_client is sagemaker_params is sagemaker_get_response_func is None):
            raise ConfigError("SageMaker is not supported; give custom_llm_api_func instead")
        if batch_size_checker < 1:
            raise ConfigError(f"batch_size_checker must be at least 1, not {batch_size_checker}")
        self._at_once = batch_size_checker
        self._judge: Judge
        if custom_llm_api_func is not None:
            self._judge = function_judge(custom_llm_api_func)
        else:
            self._judge = two_judges(
                extractor_name,
                checker_name,
                extractor_base=extractor_api_base,
                checker_base=checker_api_base,
                key=openai_api_key,
            )

    @property
    def judge(self) -> Judge:
        """What gives the claims and verdicts that the records lack."""
        return self._judge

    def evaluate(
        self,
        results: RAGResults,
        metrics: str | Iterable[str] = all_metrics,
        save_path: str | Path | None = None,
    ) -> dict[str, dict[str, float | None]]:
        """Fill in the records' claims, labels and metrics, and return the means of each group.

        Means are macro averages in percent, rounded to one decimal; None where no record could
        be scored. A record without anything to measure counts as 0, as in RAGChecker; one that
        a judge failed on is left out, and its ``errors`` say why. ``save_path`` gets the JSON,
        also when the evaluation is broken off.

        Raises ConfigError, DataError (before anything is asked) and JudgeUnusable.
        """

        async def work() -> dict[str, dict[str, float | None]]:
            try:
                return await self.evaluate_async(results, metrics, save_path)
            finally:
                await self._judge.aclose()

        return run_sync(work())

    async def evaluate_async(
        self,
        results: RAGResults,
        metrics: str | Iterable[str] = all_metrics,
        save_path: str | Path | None = None,
    ) -> dict[str, dict[str, float | None]]:
        """`evaluate` for code that runs in an event loop."""
        chosen = {name: load_metric(NATIVE[name]) for name in chosen_metrics(metrics)}
        cases = [(result, self._given(n, result)) for n, result in enumerate(results.results)]
        check_skills(chosen, [judge.sample for _, judge in cases], self._judge)
        limit = asyncio.Semaphore(self._at_once)

        async def one(result: RAGResult, judge: GivenJudge) -> Mapping[str, Score]:
            async with limit:
                return await _score(result, judge, chosen)

        tasks = [asyncio.ensure_future(one(*case)) for case in cases]
        try:
            _average(results, chosen, await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if save_path is not None:
                await asyncio.to_thread(_save, results, Path(save_path))
        return results.metrics

    def _given(self, n: int, result: RAGResult) -> GivenJudge:
        try:
            return GivenJudge(result, self._judge)
        except DataError as error:
            where = f"results[{n}] (query_id {result.query_id!r})"
            raise DataError(f"{where}: {error}") from None


async def _score(
    result: RAGResult, judge: GivenJudge, metrics: Mapping[str, Metric]
) -> Mapping[str, Score]:
    """Score a record and write down what was found."""
    row = await score_sample(judge.sample, metrics, judge)
    _fill(result, row, judge)
    scores = {name: _zero(score) for name, score in row.scores.items()}
    for name, score in scores.items():
        result.metrics[name] = score.value
        result.errors.pop(name, None)
        if score.value is None:
            result.errors[name] = score.reason
    return scores


def _zero(score: Score) -> Score:
    """RAGChecker's value where there is nothing to measure."""
    return Score(0.0) if score.status == "undefined" else score


def _fill(result: RAGResult, row: Row, judge: GivenJudge) -> None:
    """Put claims and labels into the fields that lack them."""
    fields = {"response_claims": "response", "gt_answer_claims": "reference"}
    for field, of in fields.items():
        if getattr(result, field) is None and of in row.claims:
            setattr(result, field, [claim.text for claim in row.claims[of]])
    for field, of, against in MATRICES:
        claims = row.claims.get(fields[of])
        labels = None if claims is None else judge.labels(against, claims)
        if labels is not None:
            flat = against != "passage"
            setattr(result, field, [r[0] if r else None for r in labels] if flat else labels)


def _average(
    results: RAGResults, metrics: Iterable[str], scores: Iterable[Mapping[str, Score]]
) -> None:
    scores = list(scores)
    for group, names in METRIC_GROUP_MAP.items():
        if group == all_metrics:
            continue
        for name in [name for name in names if name in metrics]:
            mean = summarise([row[name] for row in scores]).mean
            percent = None if mean is None else round(100 * mean, 1)
            results.metrics.setdefault(group, {})[name] = percent


def _save(results: RAGResults, path: Path) -> None:
    path.write_text(results.to_json(indent=2), "utf-8")
