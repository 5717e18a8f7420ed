import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address, LocalAccount } from 'viem'
import { sleep, type Time } from '../time.ts'
import type { FacilitatorState } from './control.ts'
import { type FacilitatorFault, facilitatorFaults, hostileSettle, type Settled } from './faults.ts'
import { type FacilitatorRequest, settleOnChain, signedBy } from './settle-on-chain.ts'

export type FacilitatorOptions = {
  rpc: string
  network: string
  asset: Address
  /** Pays gas. */
  account: LocalAccount
  port?: number
  /** How long a hanging settlement keeps its caller. */
  hangMs?: number
  slowMs?: number
  time: Pick<Time, 'nowMs'>
  /** Test chains can give money and replace blocks. */
  fund?(address: Address): Promise<void>
  reorg?(depth: number): Promise<void>
  advanceTime?(seconds: number): void
}

export type RunningFacilitator = { url: string; stop(): Promise<void> }

const bodyBytesMax = 256 * 1024

/** x402 facilitator on this machine: /supported, /verify, /settle, and /control to plan its faults. */
export async function serveFacilitator(options: FacilitatorOptions): Promise<RunningFacilitator> {
  const honest = settleOnChain(options)
  const planned: FacilitatorFault[] = []
  const late: (() => Promise<void>)[] = []
  let last: FacilitatorFault | null = null
  const holding = createHolding()
  const settle = hostileSettle<FacilitatorRequest>((request) => honest.settle(request), {
    faults: planned,
    hang: () => sleep(options.hangMs ?? 95_000),
    pause: () => sleep(options.slowMs ?? 4_000),
    late: (work) => void late.push(work),
    onFault: (fault) => {
      last = fault ?? null
    },
  })

  const state = (): FacilitatorState => ({
    ...{ rpc: options.rpc, network: options.network, asset: options.asset },
    ...{ settlements: honest.settlements(), late: late.length, planned, last, held: holding.nonces },
  })

  const control: Record<string, (body: Record<string, unknown>) => unknown> = {
    state,
    faults: ({ faults }) => {
      const asked = faults as FacilitatorFault[]
      const unknown = asked.filter((fault) => !facilitatorFaults.includes(fault))
      if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`)
      planned.splice(0, planned.length, ...asked)
      last = null
      return state()
    },
    late: async () => {
      for (const work of late.splice(0)) await work()
      return state()
    },
    hold: () => holding.hold(),
    resume: () => holding.resume(),
    time: ({ seconds }) => {
      if (!options.advanceTime) throw new Error('the clock of this chain cannot be moved')
      options.advanceTime(Number(seconds))
    },
    fund: async ({ address }) => {
      if (!options.fund) throw new Error('this chain gives no test money')
      await options.fund(address as Address)
      return {}
    },
    reorg: async ({ depth }) => {
      if (!options.reorg) throw new Error('this chain cannot be reorganised')
      await options.reorg(Number(depth))
      return {}
    },
  }

  const settleHeld: typeof settle = async (request, signal) => {
    await holding.wait(signedBy(request).nonce)
    return settle(request, signal)
  }

  const answer = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const path = new URL(request.url ?? '/', 'http://facilitator').pathname
    if (path === '/supported') return { status: 200, body: supported(options.network, honest.address) }
    const body = request.method === 'POST' ? await readJson(request) : {}
    const name = /^\/control\/([a-z]+)$/.exec(path)?.[1]
    if (name !== undefined && control[name]) return { status: 200, body: (await control[name](body)) ?? {} }
    if (path === '/verify') return { status: 200, body: await verify(honest, body as FacilitatorRequest) }
    if (path === '/settle')
      return {
        status: 200,
        body: await settled(body as FacilitatorRequest, settleHeld, honest.verify, options.network),
      }
    return { status: 404, body: { error: 'not found' } }
  }

  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => write(response, status, body),
      (error: unknown) => write(response, 500, { error: String(error) }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Lets one settlement wait between the check of its payment and the transfer. */
function createHolding() {
  const nonces: string[] = []
  let isArmed = false
  let resume = () => {}
  return {
    nonces,
    hold: () => {
      isArmed = true
    },
    resume: () => {
      isArmed = false
      resume()
    },
    wait: async (nonce: string) => {
      if (!isArmed) return
      isArmed = false
      nonces.push(nonce.toLowerCase())
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    },
  }
}

const supported = (network: string, signer: Address) => ({
  kinds: [
    { x402Version: 2, scheme: 'exact', network },
    { x402Version: 2, scheme: 'upto', network, extra: { facilitatorAddress: signer } },
  ],
  extensions: [],
  signers: { 'eip155:*': [signer] },
})

async function verify(
  honest: { verify(request: FacilitatorRequest): Promise<string | undefined> },
  request: FacilitatorRequest,
) {
  const invalidReason = await honest.verify(request)
  const { payer } = signedBy(request)
  return invalidReason === undefined ? { isValid: true, payer } : { isValid: false, invalidReason, payer }
}

async function settled(
  request: FacilitatorRequest,
  settle: (request: FacilitatorRequest, signal: AbortSignal) => Promise<Settled>,
  check: (request: FacilitatorRequest, isSettling: boolean) => Promise<string | undefined>,
  network: string,
) {
  const { payer } = signedBy(request)
  const invalid = await check(request, true)
  if (invalid !== undefined) return { success: false, errorReason: invalid, transaction: '', network, payer }
  const outcome = await settle(request, new AbortController().signal)
  if (outcome.status === 'submitted') {
    const { amount } = request.paymentRequirements
    const transaction = outcome.transaction === '0x' ? '' : outcome.transaction
    return { success: true, transaction, network, payer, amount }
  }
  return { success: false, errorReason: outcome.reason, transaction: '', network, payer }
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > bodyBytesMax) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>
}

function write(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
