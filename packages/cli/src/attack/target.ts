import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import { type Offer, type PaymentRequired, parsePaymentRequired } from '@assay/sdk'
import { type Address, createPublicClient, erc20Abi, type Hex, http, type LocalAccount, toHex } from 'viem'
import { usageError } from '../exit-codes.ts'

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

export type SendOptions = {
  method?: string
  /** The request target, when it is not that of the route. */
  path?: string
  headers?: Record<string, string>
  body?: string | undefined
  /**
   * We hang up this long after the request was written, and only listen from then on. A seller that was faster is heard
   * to the end: bytes that were on their way when the line was cut would be an answer for it and nothing for us.
   */
  hangUpMs?: number
}

/** What is attacked: the route, its own terms, and a wallet that can pay them. */
export type Target = {
  url: URL
  account: LocalAccount
  body: string | undefined
  required: PaymentRequired
  offer: Offer
  priceMicro: bigint
  rpc: string | undefined
  send(options?: SendOptions): Promise<Answer>
  /** A payment as the seller asked for it, or changed; value of PAYMENT-SIGNATURE. */
  pay(change?: PaymentChange): Promise<string>
  /** USDC of a wallet, or undefined where no chain is known. */
  balance(address?: Address): Promise<bigint | undefined>
}

export type PaymentChange = {
  account?: LocalAccount
  authorization?: Partial<Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>>
  chainId?: number
  verifyingContract?: Address
  accepted?: Record<string, unknown>
  document?: Record<string, unknown>
  signature?(signature: Hex): Hex
}

const answerMsMax = 60_000

/** Sent byte by byte as said: no client library corrects the path or the host. */
function sendRaw(url: URL, options: SendOptions & { method: string }): Promise<Answer> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    const none = (): void => resolve({ status: 0, headers: {}, body: '' })
    const sent = request(
      {
        host: url.hostname,
        port: url.port,
        path: options.path ?? `${url.pathname}${url.search}`,
        method: options.method,
        headers: { host: url.host, ...options.headers },
        timeout: answerMsMax,
        agent: false,
        // A seller that answers too much is cut off by us, not by the parser.
        maxHeaderSize: 256 * 1024,
      },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', none)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    sent.on('error', none)
    sent.on('timeout', () => sent.destroy())
    const { hangUpMs } = options
    if (hangUpMs !== undefined) sent.once('finish', () => setTimeout(() => sent.socket?.end(), hangUpMs))
    sent.end(options.body)
  })
}

export async function openTarget(input: {
  url: string
  body: string | undefined
  account: LocalAccount
  rpc: string | undefined
}): Promise<Target> {
  const url = new URL(input.url)
  const method = input.body === undefined ? 'GET' : 'POST'
  const json = input.body === undefined ? {} : { 'content-type': 'application/json' }
  const send = (options: SendOptions = {}) => {
    const body = 'body' in options ? options.body : input.body
    return sendRaw(url, { method, ...options, headers: { ...json, ...options.headers }, body })
  }
  const first = await send()
  const header = first.headers['payment-required']
  if (first.status !== 402 || typeof header !== 'string')
    throw usageError(
      `this is no paid x402 v2 route: it answered ${first.status}`,
      'Give the full address of a route that answers 402, with its query, or --data for POST.',
    )
  const required = parsePaymentRequired(header)
  const offer = required.accepts.find(({ scheme, network }) => scheme === 'exact' && network.startsWith('eip155:'))
  if (offer === undefined) throw usageError('the route takes no payment by the exact scheme on an EVM chain')
  return {
    ...input,
    url,
    required,
    offer,
    priceMicro: BigInt(offer.amount),
    send,
    pay: (change = {}) => makePayment(input.account, required, offer, change),
    balance: (address = input.account.address) => readBalance(input.rpc, offer.asset as Address, address),
  }
}

async function readBalance(rpc: string | undefined, asset: Address, address: Address): Promise<bigint | undefined> {
  if (rpc === undefined) return undefined
  const client = createPublicClient({ transport: http(rpc), cacheTime: 0 })
  return client.readContract({ address: asset, abi: erc20Abi, functionName: 'balanceOf', args: [address] })
}

/** Signs what it is told to, right or wrong, and wraps it as the seller expects. */
async function makePayment(
  account: LocalAccount,
  required: PaymentRequired,
  offer: Offer,
  change: PaymentChange,
): Promise<string> {
  const signer = change.account ?? account
  const now = Math.floor(Date.now() / 1000)
  const authorization = {
    from: signer.address as string,
    to: offer.payTo,
    value: offer.amount,
    validAfter: '0',
    validBefore: String(now + Math.min(offer.maxTimeoutSeconds, 120)),
    nonce: toHex(randomBytes(32)) as string,
    ...change.authorization,
  }
  const signature = await signer.signTypedData({
    domain: {
      name: String(offer.extra.name ?? 'USD Coin'),
      version: String(offer.extra.version ?? '2'),
      chainId: change.chainId ?? Number(offer.network.slice('eip155:'.length)),
      verifyingContract: change.verifyingContract ?? (offer.asset as Address),
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: authorization.from as Address,
      to: authorization.to as Address,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex,
    },
  })
  const document = {
    x402Version: 2,
    resource: required.resource,
    accepted: { ...(offer.raw as Record<string, unknown>), ...change.accepted },
    payload: { signature: change.signature?.(signature) ?? signature, authorization },
    ...change.document,
  }
  return encode(document)
}

export const encode = (document: unknown) => Buffer.from(JSON.stringify(document)).toString('base64')
