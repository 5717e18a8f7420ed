import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectFacilitator } from '../facilitator/control.ts'
import type { TestFacilitator } from '../facilitator/test-facilitator.ts'
import { systemTime, type Time } from '../time.ts'
import { type Asked, type Given, type Mistake, readAsked, type Sell } from './exchange.ts'
import { mistakes } from './mistakes.ts'
import { readFacts } from './payment-facts.ts'
import { settleThroughFacilitator } from './settle-through-facilitator.ts'

export type FaultySeller = {
  url: string
  /** Another paid route. */
  otherUrl: string
  /** From now on the seller makes this mistake, named by the case that finds it; without one it is correct. */
  open(mistake?: string | Mistake): void
  /** Starts the seller again on its database: without what it knows of its facilitator. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const path = '/echo'
const otherPath = '/other'

/**
 * A correct seller, built with the till on the chain of the test facilitator, with one switch for each mistake. Needs
 * `@assay/till` with its optional packages.
 */
export async function startFaultySeller(
  facilitator: TestFacilitator,
  options: { databaseUrl?: string | undefined; time?: Time; settleSeconds?: number } = {},
): Promise<FaultySeller> {
  const { createTill, local } = await import('@assay/till')
  const { demoAccount } = await import('@assay/till/devnet')
  const { knownNetworks } = await import('@assay/till/chain')
  const { silentLog } = await import('@assay/till/kernel/log')
  const { systemClock } = await import('@assay/till/kernel/clock')
  const { checksumAddress } = await import('@assay/protocol/address')
  const { nowMs } = options.time ?? systemTime
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  const known = knownNetworks.find(({ caip2 }) => caip2 === facilitator.network)
  if (!known) throw new Error(`${facilitator.network} is not a known network`)
  const server = createServer({ maxHeaderSize: 256 * 1024 })
  server.maxHeadersCount = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const openTill = () =>
    createTill({
      database: options.databaseUrl ?? { embedded: true, folder },
      ...{ publicUrl: origin, demo: true, log: silentLog, payToExclusive: true },
      clock: { ...systemClock, nowMs },
      networks: {
        base: {
          payTo: checksumAddress(demoAccount('operator').address),
          rpc: [facilitator.rpc],
          network: { ...known, usdc: { ...known.usdc, address: facilitator.asset } },
        },
      },
      facilitator: local({ keys: [demoAccount('settler').privateKey] }),
      channels: {},
      limits: { settleSeconds: options.settleSeconds ?? 5 },
      intercept: { facilitator: settleThroughFacilitator(facilitator.url, facilitator.settler) },
    }).then((opened) => {
      opened.sell({ id: 'echo', path, price: { upTo: '0.001' }, summary: 'Echo' }, async (call) => {
        call.charge('0.0004')
        return { echo: 'the answer, as it is sold' }
      })
      opened.sell({ id: 'other', path: otherPath, price: '0.002', summary: 'Other' }, async () => ({ other: 'answer' }))
      return opened
    })
  let till = await openTill()

  const correct: Sell = (asked) => asked.correct(asked)
  let sell = correct
  const control = connectFacilitator(facilitator.url)
  let restarts = 0
  const now = () => Math.floor(nowMs() / 1000)
  const facts = readFacts(control, facilitator.rpc, facilitator.asset, now)
  server.on('request', (request, response) => {
    const answer = async () => {
      const asked = await readAsked(request, {
        asset: facilitator.asset,
        lastFault: async () => (await control.state()).last,
        facts,
        wasHeld: async (nonce) => (await control.state()).held.includes(nonce),
        ...{ now, restarts },
        isGone: () => request.socket.readableEnded,
        correct: (given) => sellWith(till, origin, given, response),
      })
      write(response, asked.method, await sell(asked))
    }
    answer().catch(() => response.destroy())
  })
  return {
    url: `${origin}${path}`,
    otherUrl: `${origin}${otherPath}`,
    open: (given) => {
      const mistake = typeof given === 'string' ? mistakes[given] : given
      if (mistake === undefined && given !== undefined) throw new Error(`no such mistake: ${given}`)
      sell = mistake?.(correct) ?? correct
    },
    restart: async () => {
      restarts += 1
      server.closeAllConnections()
      await till.close()
      till = await openTill()
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await till.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Fetch = (
  request: Request,
  call?: { clientGone?: AbortSignal; onDelivery?(delivered: () => void): void },
) => Promise<Response>

async function sellWith(
  till: { fetch: Fetch },
  origin: string,
  asked: Asked,
  response: ServerResponse,
): Promise<Given> {
  const hasBody = !['GET', 'HEAD'].includes(asked.method)
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const { host: _host, connection: _connection, ...headers } = asked.headers
  const request = new Request(`${origin}${asked.target.replace(/^\/*/, '/')}`, {
    ...{ method: asked.method, headers, ...(hasBody ? { body: asked.body } : {}) },
  })
  const answered = await till.fetch(request, {
    clientGone: gone.signal,
    onDelivery: (delivered) => response.once('finish', () => delivered()),
  })
  return { status: answered.status, headers: Object.fromEntries(answered.headers), body: await answered.text() }
}

function write(response: ServerResponse, method: string, { status, headers, body }: Given): void {
  const { 'content-length': _length, ...rest } = headers
  response.writeHead(status, rest)
  response.end(method === 'HEAD' || status === 304 ? undefined : body)
}
