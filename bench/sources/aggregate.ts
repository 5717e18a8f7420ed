import {
  aggregateCitations,
  reaggregateTrust,
} from '../../packages/node/src/shops/sources/score/aggregate-citations.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import { percentiles } from '../percentiles.ts'
import { benchDeps } from './deps.ts'

export type AggregationFigures = {
  sources: number
  citations: number
  agents: number
  batch: number
  secondsMedian: number
  secondsWorst: number
  rescored: number
  touchedSources: number
}

/** 10,000 scored sources, a million citations, then batches of 1,000 new ones. */
export async function measureAggregation(): Promise<AggregationFigures> {
  const [sources, agents, citations, batch] = [10_000, 20_000, 1_000_000, 1_000]
  const db = await openTestDatabase()
  try {
    const deps = benchDeps(db.database, new Map())
    await db.database.query(
      `insert into source (domain, registrable, display, origin, state, cite_score, confidence, registered_at, updated_at)
       select 's' || n || '.com', 's' || n || '.com', '', '', 'registered', 45, 0.5, now(), now() from generate_series(1, $1::integer) n`,
      [sources],
    )
    await db.database.query(
      `insert into score_parts (domain, rest, gate, authority) select domain, 0.345, 1, 0.35 from source`,
    )
    await db.database.query(
      `insert into source_score (domain, seq, score, confidence, model_version, components, evidence_sha256, jws, computed_at)
       select domain, 1, 45, 0.5, 'citescore-1.1', '{"components":[{"id":"authority","value":0.35,"weight":0.3,"known":0,"signals":[],"evidence":[]}],"gate":{"value":1,"reason":""},"evidence_count":1,"advice":[]}', sha256('x'), 'bench', now() from source`,
    )
    await db.database.query(
      `insert into citing_agent (agent, cluster, weight, first_seen_at) select 'a' || n, 'a' || n, case when n % 2 = 0 then 1 else 0 end, now() from generate_series(1, $1::integer) n`,
      [agents],
    )
    // Loading is not what is measured: without the checks of foreign keys it takes a fraction of the time.
    await db.owner.transaction(async (tx) => {
      await tx.query(`set local session_replication_role = replica`)
      await tx.query(`set local statement_timeout = '10min'`)
      await tx.query(
        `insert into citation_edge (agent, domain, citations)
         select distinct on (1, 2) 'a' || (1 + n % $2::integer), 's' || (1 + floor(power(random(), 2) * $3)::integer % $3::integer) || '.com', 1
         from generate_series(1, $1::integer) n`,
        [citations, agents, sources],
      )
    })
    await db.owner.query(
      'update citing_agent a set row_sum = s.total from (select agent, sum(sqrt(citations)) as total from citation_edge group by agent) s where s.agent = a.agent',
    )
    await db.database.transaction((tx) => reaggregateTrust(tx, new Date()))
    await db.owner.query('analyze')
    // The sources above were scored without trust: the first batch brings all of them up to date, the others are the measure.
    const rounds: { seconds: number; rescored: number; sources: number }[] = []
    for (let round = 0; round < 7; round += 1) {
      const fresh = Array.from({ length: batch }, (_, n) => ({
        agent: `a${1 + ((round * 7_919 + n * 13) % agents)}`,
        source: `s${1 + ((round * 104_729 + n * 31) % sources)}.com`,
      }))
      const startedAt = performance.now()
      const outcome = await aggregateCitations(deps, fresh)
      rounds.push({
        seconds: (performance.now() - startedAt) / 1000,
        rescored: outcome.rescored,
        sources: outcome.sources,
      })
    }
    const measured = rounds.slice(1)
    const seconds = percentiles(measured.map((round) => round.seconds))
    return {
      sources,
      citations,
      agents,
      batch,
      secondsMedian: seconds(0.5),
      secondsWorst: seconds(1),
      rescored: Math.max(...measured.map((round) => round.rescored)),
      touchedSources: Math.max(...measured.map((round) => round.sources)),
    }
  } finally {
    await db.close()
  }
}
