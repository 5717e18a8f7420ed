import type { Rng } from '@assay/till/kernel/random'
import type { ClusterNode } from './clusters.ts'
import type { Cell } from './count-demand.ts'
import { sampleDiscreteLaplace } from './discrete-laplace.ts'
import { accuracyOf, noiseRate, type Plan } from './plan.ts'
import type { IntentSettings } from './settings.ts'

/** What is published of one topic. `bonded` is a part of `demand`, and so is all that is shown of what is below it. */
export type NoisyCell = {
  cluster: string
  demand: number
  bonded: number
  words: { word: string; demand: number }[]
}

export type Topics = {
  childrenOf(id: string | null): readonly ClusterNode[]
  wordsOf(id: string): readonly string[]
}

const wordsMax = 5
type Parts = { bonded: number; others: number }
type Shown = Parts & { id: string }

/**
 * Noise for every topic there is, empty ones too, from the broadest down; the topics below one are read when the
 * topic itself is shown. Only noisy figures decide what is shown, so that silence tells no more than a figure does.
 */
export function publishable(
  rng: Rng,
  settings: Pick<IntentSettings, 'epsilonDailyMicro' | 'k'>,
  plan: Plan,
  topics: Topics,
  cells: ReadonlyMap<string, Cell>,
): NoisyCell[] {
  const rate = noiseRate(settings, plan, 'count')
  const wordRate = noiseRate(settings, plan, 'word')
  const { least, minWordCount } = accuracyOf(settings, plan)
  const noisy = (count: number) => count + sampleDiscreteLaplace(rng, rate)
  const draw = ({ id }: ClusterNode): Shown | undefined => {
    const bonded = noisy(cells.get(id)?.bonded ?? 0)
    const demand = bonded + noisy(cells.get(id)?.others ?? 0)
    if (demand < least) return undefined
    const part = Math.min(Math.max(bonded, 0), demand)
    return { id, bonded: part, others: demand - part }
  }
  const published: NoisyCell[] = []
  const descend = (parent: Shown | null, tier: number): void => {
    if (tier > plan.tiers) return
    const drawn = topics.childrenOf(parent?.id ?? null).flatMap((node) => draw(node) ?? [])
    for (const shown of parent ? fitted(drawn, parent) : drawn) {
      const demand = shown.bonded + shown.others
      if (demand < settings.k) continue
      published.push({ cluster: shown.id, demand, bonded: shown.bonded, words: wordsIn(shown.id, demand) })
      descend(shown, tier + 1)
    }
  }
  const wordsIn = (id: string, demand: number): NoisyCell['words'] => {
    const said = topics.wordsOf(id).flatMap((word) => {
      const value = (cells.get(id)?.words.get(word) ?? 0) + sampleDiscreteLaplace(rng, wordRate)
      return value < minWordCount ? [] : [{ word, demand: value }]
    })
    const within = fit(
      said.map((one) => one.demand),
      demand,
    )
    return said
      .map(({ word }, at) => ({ word, demand: within[at] as number }))
      .filter((one) => one.demand >= settings.k)
      .sort((a, b) => b.demand - a.demand || (a.word < b.word ? -1 : 1))
      .slice(0, wordsMax)
  }
  descend(null, 1)
  return published
}

function fitted(children: readonly Shown[], parent: Parts): Shown[] {
  const bonded = fit(
    children.map((child) => child.bonded),
    parent.bonded,
  )
  const others = fit(
    children.map((child) => child.others),
    parent.others,
  )
  return children.map(({ id }, at) => ({ id, bonded: bonded[at] as number, others: others[at] as number }))
}

/** Made smaller in proportion where they are more than the whole that they are parts of. */
export function fit(parts: readonly number[], whole: number): number[] {
  const sum = parts.reduce((all, part) => all + part, 0)
  return sum <= whole ? [...parts] : parts.map((part) => Math.floor((part * whole) / sum))
}
