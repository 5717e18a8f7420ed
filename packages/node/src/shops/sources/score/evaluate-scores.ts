import { sha256 } from '@assay/till/kernel/bytes'
import type { Sql } from '@assay/till/store/database'
import { canonicalDomain } from '../domain/canonical-domain.ts'
import { matchSuffix } from '../domain/public-suffix.ts'
import { areaUnderCurve, spearman } from './rank-statistics.ts'

export type Label = { domain: string; rating: number }
export type EvaluationPart = {
  name: 'all' | 'tuning' | 'reported'
  count: number
  spearman: number | null
  auc: number | null
}
export type Evaluation = {
  labels: number
  malformed: number
  matched: number
  goodFrom: number
  parts: readonly EvaluationPart[]
}

const noRules = { ownHosts: new Set<string>(), demoHosts: { has: (host: string) => host.endsWith('.test') } }

/** `domain,rating` a line; a first line that is not one is a heading. */
export function parseLabels(text: string): { labels: Label[]; malformed: number } {
  const labels = new Map<string, number>()
  let malformed = 0
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const [name = '', rating = ''] = line.split(',').map((part) => part.trim().replace(/^"|"$/g, ''))
    const domain = canonicalDomain(name, noRules)
    if (domain.ok && /^-?\d{1,9}(?:\.\d{1,9})?$/.test(rating)) labels.set(domain.domain, Number(rating))
    else if (index > 0) malformed += 1
  }
  return { labels: [...labels].map(([domain, rating]) => ({ domain, rating })), malformed }
}

/** Which half a domain belongs to, by its registrable domain: subdomains of one site never fall on both sides. */
export function halfOf(domain: string): 'tuning' | 'reported' {
  const key = matchSuffix(domain).registrable ?? domain
  return ((sha256(key)[0] ?? 0) & 1) === 0 ? 'tuning' : 'reported'
}

/** Scores against ratings. The ratings are read here and nowhere near the score itself. */
export async function evaluateScores(sql: Sql, text: string, goodFrom?: number): Promise<Evaluation> {
  const { labels, malformed } = parseLabels(text)
  const { rows } = await sql.query<{ domain: string; cite_score: number }>(
    'select domain, cite_score from source where domain = any($1) and cite_score is not null',
    [labels.map((label) => label.domain)],
  )
  const scores = new Map(rows.map((row) => [row.domain, row.cite_score]))
  const matched = labels.flatMap(({ domain, rating }) => {
    const score = scores.get(domain)
    return score === undefined ? [] : [{ domain, rating, score }]
  })
  const ratings = matched.map(({ rating }) => rating).sort((one, other) => one - other)
  const threshold = goodFrom ?? ratings[Math.floor(ratings.length / 2)] ?? 0
  const part = (name: EvaluationPart['name'], of: typeof matched): EvaluationPart => ({
    name,
    count: of.length,
    spearman: spearman(
      of.map(({ score }) => score),
      of.map(({ rating }) => rating),
    ),
    auc: areaUnderCurve(
      of.map(({ score }) => score),
      of.map(({ rating }) => rating >= threshold),
    ),
  })
  return {
    labels: labels.length,
    malformed,
    matched: matched.length,
    goodFrom: threshold,
    parts: [
      part('all', matched),
      part(
        'tuning',
        matched.filter(({ domain }) => halfOf(domain) === 'tuning'),
      ),
      part(
        'reported',
        matched.filter(({ domain }) => halfOf(domain) === 'reported'),
      ),
    ],
  }
}
