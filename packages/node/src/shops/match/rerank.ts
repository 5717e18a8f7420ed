import type { Log } from '@assay/till/kernel/log'
import type { IndexedPage } from '../sources/pages/index.ts'
import { makeSnippet } from './make-snippet.ts'
import type { TextMatch } from './rank-pages.ts'
import type { Query } from './read-query.ts'

/** An operator's own model: how well each passage answers, higher is better, on its own scale. */
export type Reranker = {
  /** How many of the best candidates it gets. */
  readonly pages: number
  score(question: string, passages: readonly string[]): Promise<readonly number[]>
}

type Candidate = { page: IndexedPage; text: TextMatch }

/**
 * The best candidates in the order of the model. They share out the relevance that they had among them, so that it keeps
 * its meaning, and what is good enough to be offered is decided without the model. A model that fails changes nothing.
 */
export async function rerankPages(
  reranker: Reranker,
  question: string,
  query: Query,
  candidates: readonly Candidate[],
  log: Log,
): Promise<readonly Candidate[]> {
  const ordered = [...candidates].sort((one, other) => other.text.relevance - one.text.relevance)
  const [head, tail] = [ordered.slice(0, reranker.pages), ordered.slice(reranker.pages)]
  const terms = new Set(query.terms.keys())
  const scores = await reranker
    .score(
      question,
      head.map(({ page }) => `${page.title}. ${makeSnippet(page.text, terms)?.text ?? ''}`),
    )
    .catch((error: unknown) => {
      log.warn({ error: String(error) }, 'the re-ranker failed')
      return undefined
    })
  if (scores?.length !== head.length || scores.some((score) => !Number.isFinite(score))) return candidates
  const placed = head
    .map((one, at) => ({ one, score: scores[at] as number }))
    .sort((a, b) => b.score - a.score)
    .map(({ one: { page, text }, score }, place) => ({
      page,
      text: { ...text, relevance: (head[place] as Candidate).text.relevance, parts: { ...text.parts, rerank: score } },
    }))
  return [...placed, ...tail]
}
