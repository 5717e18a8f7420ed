import { indexMethod, indexValueE4, sharesAt } from '../../packages/node/src/shops/options/domain/demand-index.ts'
import { planListings } from '../../packages/node/src/shops/options/list-series.ts'
import { createDice } from '../../packages/node/src/shops/options/option-lives.fixture.ts'
import {
  legalAcknowledgement,
  type OptionSettings,
  parseOptionSettings,
} from '../../packages/node/src/shops/options/settings.ts'
import { percentiles } from '../percentiles.ts'

const clusters = 700
const hour = 3_600_000
const baseShareE12 = Math.round(1e12 / clusters)
const rounds = 15

/** A new bucket of 700 topics: the tick of every index, and all series that could be listed on them. */
export function measureIndex() {
  const dice = createDice(5)
  const settings: OptionSettings = {
    ...(parseOptionSettings(
      {
        enabled: true,
        acknowledge: legalAcknowledgement,
        allowlist: ['0x1111111111111111111111111111111111111111'],
        clusters_max: clusters,
        agent_cost_usd: '1000000',
      },
      false,
    ) as OptionSettings),
  }
  const method = indexMethod(hour, settings.halfLifeMs)
  const nowMs = Math.floor(Date.UTC(2026, 10, 16) / hour) * hour
  const names = Array.from({ length: clusters }, (_, n) => `c${String(n).padStart(3, '0')}`)
  const inputs = Array.from({ length: method.lookback }, (_, age) =>
    names.map((cluster) => ({
      cluster,
      startsAtMs: nowMs - (method.lookback - age) * hour,
      endsAtMs: nowMs - (method.lookback - age - 1) * hour,
      bonded: 20 + dice.below(80),
    })),
  ).flat()
  const histories = new Map(
    names.map((cluster) => [
      cluster,
      Array.from({ length: settings.volatilityTicks - 1 }, (_, n) => ({
        atMs: nowMs - (settings.volatilityTicks - n) * hour,
        valueE4: BigInt(900_000 + dice.below(200_000)),
        shareE12: 1e12 / clusters,
        agents: 20 + dice.below(80),
      })),
    ]),
  )
  const times: number[] = []
  let listed = 0
  const cpuBefore = process.cpuUsage()
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now()
    const ticks = sharesAt(method, inputs, nowMs)
    const indexes = ticks.map(({ cluster, atMs, shareE12, agents }) => ({
      cluster,
      ticks: [
        ...(histories.get(cluster) ?? []),
        { atMs, valueE4: indexValueE4(shareE12, baseShareE12), shareE12, agents },
      ],
    }))
    listed = planListings(settings, indexes, nowMs).length
    times.push(performance.now() - startedAt)
  }
  const cpu = process.cpuUsage(cpuBefore)
  const at = percentiles(times)
  return {
    clusters,
    series: listed,
    median_ms: Math.round(at(0.5)),
    slowest_ms: Math.round(at(1)),
    cpu_ms: Math.round((cpu.user + cpu.system) / 1000 / rounds),
    required_ms: 200,
  }
}
