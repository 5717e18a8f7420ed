import { toHex } from '@assay/protocol/bytes'
import { operatorOf, type RpcEndpoint } from '@assay/till/chain'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import { askOne, type Panel, quorumFor } from './panel.ts'

export type Vetting = { endpoint: RpcEndpoint; fault?: string }

export type EndpointVetter = {
  /** The endpoints that may speak now. Vetted at first use and hourly; a failed one is tried again sooner. */
  panel(): Promise<Panel>
  vettings(): readonly Vetting[]
}

const vettedMs = 3_600_000
const retryFailedMs = 10_000

export type VetOptions = {
  endpoints: readonly RpcEndpoint[]
  chainId: number
  /** Hash of block 0 as the node knows it. */
  genesisHash(): Promise<string | undefined>
  clock: Clock
}

/** Wrong chain, other genesis, or a node that ignores the block hash it is asked for: such an endpoint has no vote. */
export function createVetter(options: VetOptions): EndpointVetter {
  const { endpoints, clock } = options
  const operators = new Set(endpoints.map(operatorOf))
  let current: readonly Vetting[] = []
  let dueMs = 0
  let running: Promise<void> | undefined
  const refresh = async () => {
    const genesis = await options.genesisHash().catch(() => undefined)
    current = oneVoteEach(await Promise.all(endpoints.map((endpoint) => vet(options, endpoint, genesis))))
    const failing = current.some(({ fault }) => fault !== undefined && !fault.startsWith(sharesOperator))
    dueMs = clock.nowMs() + (failing ? retryFailedMs : vettedMs)
  }
  return {
    panel: async () => {
      if (clock.nowMs() >= dueMs) {
        running ??= refresh().finally(() => {
          running = undefined
        })
        await running
      }
      return {
        quorum: quorumFor(operators.size),
        endpoints: current.filter(({ fault }) => fault === undefined).map(({ endpoint }) => endpoint),
        clock,
      }
    },
    vettings: () => current,
  }
}

function oneVoteEach(vettings: readonly Vetting[]): Vetting[] {
  const heard = new Set<string>()
  return vettings.map((vetting) => {
    if (vetting.fault !== undefined) return vetting
    const operator = operatorOf(vetting.endpoint)
    if (heard.has(operator)) return { ...vetting, fault: `${sharesOperator}${operator}` }
    heard.add(operator)
    return vetting
  })
}

const sharesOperator = 'has the same operator as another one: '

const madeUpHash = toHex(sha256('assay: a block hash that no chain has'))
const anyone = '0x0000000000000000000000000000000000000001'

async function vet(options: VetOptions, endpoint: RpcEndpoint, genesis: string | undefined): Promise<Vetting> {
  const [chain, first] = await askOne(options.clock, endpoint, [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: ['0x0', false] },
  ])
  if (!chain?.ok || !first?.ok) return { endpoint, fault: 'does not answer' }
  if (Number(chain.value) !== options.chainId)
    return { endpoint, fault: `is on chain ${String(chain.value).slice(0, 20)}` }
  const hash = (first.value as { hash?: unknown } | null)?.hash
  if (genesis === undefined || hash !== genesis) return { endpoint, fault: 'has another first block' }
  const at = { blockHash: madeUpHash, requireCanonical: true }
  const [canary] = await askOne(options.clock, endpoint, [{ method: 'eth_getBalance', params: [anyone, at] }])
  if (canary?.ok && canary.value !== null) return { endpoint, fault: 'ignores the block hash it is asked for' }
  return { endpoint }
}
