import { roleNames, roles } from '../../packages/node/src/shops/tokens/abi/b20.ts'
import { createActor } from '../../packages/node/src/shops/tokens/issuer.fixture.ts'
import { readToken } from '../../packages/node/src/shops/tokens/read/read-token.ts'
import { readerOver } from '../../packages/node/src/shops/tokens/reader.fixture.ts'
import { startTokenChain } from '../../packages/node/src/shops/tokens/token-chain.fixture.ts'
import { httpEndpoint } from '../../packages/till/src/chain/index.ts'
import { summarize } from '../percentiles.ts'
import { counting } from './counting-endpoint.ts'
import { oneByOne, readNaively } from './naive-reader.ts'

const roleEvents = 200
const readings = 60
const naiveReadings = 5

/** A check of a token with 200 role events over the local RPC, beside a reader that asks one view at a time. */
export async function measureTrips() {
  const chain = await startTokenChain({ port: 0 })
  try {
    const issuer = await createActor(chain)
    const token = await issuer.create('bench')
    const grantable = roleNames.filter((name) => name !== 'DEFAULT_ADMIN_ROLE')
    for (let i = 0; i < roleEvents - 1; i += 1) {
      const account = `0x${(1_000 + Math.floor(i / 8)).toString(16).padStart(40, '0')}`
      await issuer.call(token, 'grantRole', roles[grantable[i % 8] ?? 'MINT_ROLE'], account)
    }
    const endpoint = counting(httpEndpoint(chain.url as string))
    const deps = readerOver([endpoint])
    await readToken(deps, token)
    const took: number[] = []
    let last: Awaited<ReturnType<typeof readToken>> | undefined
    for (let i = 0; i < readings; i += 1) {
      endpoint.reset()
      const started = performance.now()
      last = await readToken(deps, token)
      took.push(performance.now() - started)
    }
    if (last?.status !== 'read') throw new Error('the token could not be read')
    const naiveCalls = oneByOne(endpoint.calls())
    const trips = endpoint.trips()
    const naiveTook: number[] = []
    for (let i = 0; i < naiveReadings; i += 1) {
      const started = performance.now()
      await readNaively(endpoint, naiveCalls)
      naiveTook.push(performance.now() - started)
    }
    return {
      role_events: last.facts.events.length,
      round_trips: { total: trips, ...last.meter },
      ours_ms: summarize(took),
      naive: { round_trips: naiveCalls.length, ms: summarize(naiveTook) },
      fewer_round_trips: Math.round((naiveCalls.length / trips) * 10) / 10,
    }
  } finally {
    await chain.stop()
  }
}
