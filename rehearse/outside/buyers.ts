// Buyers: the stock @x402/fetch client, unmodified, over the simulated internet.
import { writeFile } from 'node:fs/promises'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { answerCommands } from '../../bench/process/commands.ts'
import { packEvidence, signRequest } from '../../packages/sdk/src/index.ts'

export type Ask = {
  url: string
  method?: 'GET' | 'POST'
  body?: unknown
  headers?: Record<string, string>
  /** Who pays, or signs the request. */
  key?: `0x${string}`
  network?: string
  /** Where the evidence of a purchase is written. */
  evidence?: string
}
export type Seen = { status: number; headers: Record<string, string>; text: string; ms: number }

/** Longer than a node may take to prepare and settle. */
const askMsMax = 90_000

const initOf = ({ method = 'GET', body, headers = {} }: Ask): RequestInit => ({
  method,
  headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  signal: AbortSignal.timeout(askMsMax),
})

async function seenOf(response: Response, startedMs: number): Promise<Seen> {
  const text = await response.clone().text()
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    ms: Math.round(performance.now() - startedMs),
  }
}

const accountOf = (key: Ask['key']): PrivateKeyAccount => privateKeyToAccount(key ?? '0x')

async function buy(ask: Ask): Promise<Seen> {
  const { network = 'eip155:8453' } = ask
  const client = x402Client.fromConfig({
    schemes: [{ network: network as `${string}:${string}`, client: new ExactEvmScheme(accountOf(ask.key)) }],
    // It pays at most a dollar unless an option allows more.
    spendControls: false,
  })
  let payment = ''
  const noting: typeof fetch = (input, init) => {
    const headers = input instanceof Request ? input.headers : new Headers(init?.headers)
    payment = headers.get('payment-signature') ?? payment
    return fetch(input, init)
  }
  const startedMs = performance.now()
  const response = await wrapFetchWithPayment(noting, client)(ask.url, initOf(ask))
  const seen = await seenOf(response, startedMs)
  if (ask.evidence !== undefined) await saveEvidence(ask, response, payment)
  return seen
}

const decoded = (header: string | null) =>
  JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8') || '{}') as Record<string, never>

/** What a buyer keeps: request, answer, payment and the keys of the day. */
async function saveEvidence(ask: Ask, response: Response, payment: string): Promise<void> {
  const sent = decoded(payment) as { resource?: { url: string }; accepted?: { network: string; asset: string } }
  const settled = decoded(response.headers.get('payment-response')) as { transaction?: string }
  const origin = new URL(ask.url).origin
  const directory = await (await fetch(`${origin}/.well-known/http-message-signatures-directory`)).json()
  const purchase = { paymentHeader: payment, resource: sent.resource?.url, ...sent.accepted }
  const result = { response, purchase, payment: { status: 'settled', transaction: settled.transaction } }
  const evidence = await packEvidence({
    request: {
      method: ask.method ?? 'GET',
      url: ask.url,
      contentType: ask.body === undefined ? null : 'application/json',
      body: new TextEncoder().encode(ask.body === undefined ? '' : JSON.stringify(ask.body)),
    },
    result: result as never,
    directory,
    nowMs: Date.now(),
  })
  await writeFile(ask.evidence ?? '', JSON.stringify(evidence))
}

answerCommands(
  {
    buy,
    ask: async (ask: Ask) => {
      const startedMs = performance.now()
      return seenOf(await fetch(ask.url, initOf(ask)), startedMs)
    },
    signed: async (ask: Ask) => {
      const startedMs = performance.now()
      const request = await signRequest(ask.url, initOf(ask), { account: accountOf(ask.key) })
      return seenOf(await fetch(request), startedMs)
    },
  },
  async () => {},
)
