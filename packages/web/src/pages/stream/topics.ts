import type { CloudEvent, IntentTick } from '@assay/sdk'

export type Topic = {
  id: string
  name: string
  demand: number
  newest: number
  /** 95 % error of the newest figure. */
  error: number | undefined
  changePct: number | null
  course: number[]
  /** Ends of the buckets of `course`, in unix seconds. */
  times: number[]
  rising: string[]
}

/** Ticks gathered by topic, the most wanted first; events of other kinds are passed over. */
export function topicsOf(events: readonly Pick<CloudEvent, 'type' | 'data'>[]): Topic[] {
  const topics = new Map<string, Topic>()
  for (const event of events) {
    const tick = tickIn(event)
    if (tick === undefined) continue
    const { id, name } = tick.cluster
    const known = topics.get(id)
    topics.set(id, {
      id,
      name,
      demand: (known?.demand ?? 0) + tick.demand,
      newest: tick.demand,
      error: tick.error_95?.demand,
      changePct: tick.trend.change_pct,
      course: [...(known?.course ?? []), tick.demand],
      times: [...(known?.times ?? []), Date.parse(tick.ends_at) / 1000],
      rising: tick.rising.map(({ term }) => term).slice(0, 3),
    })
  }
  return [...topics.values()].sort((a, b) => b.demand - a.demand)
}

export function tickIn({ type, data }: Pick<CloudEvent, 'type' | 'data'>): IntentTick | undefined {
  const tick = data as Partial<IntentTick>
  const readable =
    type.startsWith('market.intent.tick') && typeof tick.demand === 'number' && typeof tick.cluster?.id === 'string'
  return readable ? (tick as IntentTick) : undefined
}
