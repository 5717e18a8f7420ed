import type { Rpc } from '@assay/till/chain'
import type { TillJob } from '@assay/till/compose'
import type { ShopContext } from '../../shop.ts'
import type { IntentDeps } from '../deps.ts'
import { uniformBelow } from '../discrete-laplace.ts'
import { type AgentPorts, callSigned, type DemoAgent, demoAgent, topUp } from './agent-adapter.ts'
import { popularity, type Theme, themes } from './themes.ts'

const agentsCount = 64
/** Fifteen thousand searches and a bond. */
const topUpUsd = '25'
const fundMicro = 100_000_000n
const bondUsd = '10'
/** One run of the job; another process may take over between two. */
const runMs = 20_000
/** A node that nobody has called for so long would fill its disk with what they buy. */
const restAfterMs = 10 * 60_000
const pauseMs = 1_000

/**
 * Invented agents that really buy: each pays in once, puts a bond down and then searches from its credit. Their demand
 * goes the way of everybody's, and is marked as synthetic because this is a demo.
 */
export function openPopulation(
  deps: IntentDeps,
  context: Pick<ShopContext, 'apiUrl' | 'base' | 'rpcs'>,
  callsPerSecond: number,
): { job: TillJob; onAnswered(rawHeaders: readonly string[]): void; stop(): void } {
  const { clock, rng, log } = deps
  const audience = openAudience(clock)
  const stopping = new AbortController()
  const ports: AgentPorts = { origin: context.apiUrl, base: context.base, clock, rng, stopping: stopping.signal }
  const rpc = context.rpcs.get(context.base.caip2)
  // Each when its turn comes: deriving all the wallets would keep the start waiting.
  const agents = new Map<number, DemoAgent>()
  const agentAt = (number: number): DemoAgent => {
    const agent = agents.get(number) ?? demoAgent(number + 1)
    agents.set(number, agent)
    return agent
  }
  // In turn, so that as many different agents as can be ask in every bucket.
  let next = draw(rng, agentsCount)
  const turn = async () => {
    next = (next + 1) % agentsCount
    const agent = agentAt(next)
    const status = await search(ports, agent, clock.nowMs())
    if (status === 402) await payIn(ports, rpc, agent)
    else if (status === 200 && !agent.ready) {
      // Only final money can be locked, so the first tries may come too early.
      const bonded = await callSigned(ports, agent, '/v1/credit/bond', { usd: bondUsd, days: 60 })
      agent.ready = bonded === 200 || bonded === 404
    }
  }
  const work = async () => {
    const untilMs = clock.monotonicMs() + runMs
    while (!stopping.signal.aborted && clock.monotonicMs() < untilMs) {
      if (!audience.isThere()) {
        await clock.sleep(pauseMs, stopping.signal).catch(() => {})
        continue
      }
      const dueMs = clock.monotonicMs() + 1000 / callsPerSecond
      await turn().catch((error: unknown) => log.info({ error: String(error) }, 'a simulated agent could not buy'))
      await clock.sleep(Math.max(1, dueMs - clock.monotonicMs()), stopping.signal).catch(() => {})
    }
  }
  return {
    job: { name: 'market.intents.demo', intervalMs: 1_000, work },
    onAnswered: audience.onAnswered,
    stop: () => stopping.abort(new Error('the demo ends')),
  }
}

/**
 * Whether anybody called the node of late, which at the start nobody has: buyers and readers, not agents, monitors and peers,
 * which name themselves `Assay…`.
 */
function openAudience(clock: IntentDeps['clock']) {
  let heardMs = Number.NEGATIVE_INFINITY
  return {
    onAnswered: (rawHeaders: readonly string[]) => {
      const name = rawHeaders.findIndex((header, place) => place % 2 === 0 && header.toLowerCase() === 'user-agent')
      if (name < 0 || !rawHeaders[name + 1]?.startsWith('Assay')) heardMs = clock.monotonicMs()
    },
    isThere: () => clock.monotonicMs() - heardMs < restAfterMs,
  }
}

const draw = (rng: IntentDeps['rng'], limit: number) => Number(uniformBelow(rng, BigInt(limit)))

function search(ports: AgentPorts, agent: DemoAgent, atMs: number): Promise<number> {
  const { queries } = pickTheme(ports, atMs)
  return callSigned(ports, agent, '/v1/match', { query: queries[draw(ports.rng, queries.length)], limit: 3 })
}

/** What is popular now is asked for more. */
function pickTheme({ rng }: AgentPorts, atMs: number): Theme {
  const weights = themes.map((theme) => popularity(theme, atMs))
  let at = (draw(rng, 1_000_000) / 1_000_000) * weights.reduce((sum, weight) => sum + weight, 0)
  const chosen = themes.find((_, index) => {
    at -= weights[index] ?? 0
    return at < 0
  })
  return chosen ?? (themes[0] as Theme)
}

async function payIn(ports: AgentPorts, rpc: Rpc | undefined, agent: DemoAgent): Promise<void> {
  const version = await rpc?.first('web3_clientVersion', [])
  // Nobody's own chain is asked for gifts.
  if (!String(version).startsWith('assay-devnet/')) return
  const amounts = { wei: '0x0', microUsdc: `0x${fundMicro.toString(16)}` }
  await rpc?.first('devnet_fund', [agent.account.address, amounts])
  await topUp(ports, agent, topUpUsd)
}
