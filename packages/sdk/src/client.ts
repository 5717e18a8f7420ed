import type { LocalAccount } from 'viem'
import { buy } from './buy.ts'
import { type AssayResult, type Budget, type ClientContext, verifyExchange } from './context.ts'
import { AssayError } from './errors.ts'
import { exchange, prepareRequest } from './exchange.ts'
import { createKeyPins } from './key-pins.ts'
import { parseUsd } from './money.ts'
import { baseNetwork, type PayableNetwork, polygonNetwork } from './networks.ts'
import { defaultPlatform, type Platform } from './platform.ts'
import type { Purchase } from './sign-payment.ts'
import type { KeySet } from './trusted-keys.ts'

export type AssayClientOptions = {
  account: LocalAccount
  /** Relative URLs resolve against it, and only its host is paid unless `hosts` names others. */
  baseUrl?: string
  /** Decimal USD, such as "0.05". One purchase never signs for more, retries included. */
  maxPerCallUsd: string
  /** Everything this client may sign for in its life. */
  maxTotalUsd?: string
  /** Where it may pay, best first. Base and Polygon with their real USDC unless told. */
  networks?: readonly PayableNetwork[]
  hosts?: readonly string[]
  /** `require` refuses what is not signed by the node; `report` only tells. */
  verify?: 'require' | 'report'
  /** Key directories by origin; others are pinned at first use. */
  keys?: Readonly<Record<string, unknown>>
  /** Wallet of the node's operator, which may vouch for new keys. */
  operator?: `0x${string}`
  deadlineMs?: number
  fetch?: (request: Request) => Promise<Response>
  platform?: Partial<Platform>
}

export type AssayClient = {
  /** Like fetch, and pays a 402 within the policy. `purchase` resumes an earlier purchase of the same request. */
  fetch(url: string | URL, init?: RequestInit, options?: { purchase?: Purchase }): Promise<AssayResult>
  pinnedKeys(origin: string): KeySet | undefined
}

export function createAssayClient(options: AssayClientOptions): AssayClient {
  const context = createContext(options)
  return {
    pinnedKeys: (origin) => context.pins.keysOf(origin),
    fetch: async (url, init, { purchase } = {}) => {
      const absolute = options.baseUrl === undefined ? new URL(url) : new URL(url, options.baseUrl)
      const prepared = await prepareRequest(absolute, init)
      if (purchase !== undefined) return buy(context, prepared, { purchase })
      const first = await exchange(context.platform, prepared).catch((error: unknown) => {
        throw new AssayError('request_failed', { detail: absolute.href }, error)
      })
      const verified = await verifyExchange(context, prepared, first)
      if (first.status === 402) return buy(context, prepared, { challenge: first })
      return {
        response: first.response,
        payment: { status: 'none' },
        receipt: undefined,
        verified,
        purchase: undefined,
      }
    },
  }
}

function createContext(options: AssayClientOptions): ClientContext {
  const maxPerCallMicro = parseUsd(options.maxPerCallUsd)
  const totalMicro = options.maxTotalUsd === undefined ? undefined : parseUsd(options.maxTotalUsd)
  if (maxPerCallMicro === undefined || (options.maxTotalUsd !== undefined && totalMicro === undefined))
    throw new RangeError('maximums are decimal USD with at most six decimals, such as "0.05"')
  const platform: Platform = {
    ...defaultPlatform,
    ...options.platform,
    ...(options.fetch ? { fetch: options.fetch } : {}),
  }
  const baseHost = options.baseUrl === undefined ? undefined : [new URL(options.baseUrl).host]
  return {
    account: options.account,
    platform,
    policy: {
      maxPerCallMicro,
      networks: options.networks ?? [baseNetwork, polygonNetwork],
      hosts: options.hosts ?? baseHost,
    },
    pins: createKeyPins({
      platform,
      ...(options.keys === undefined ? {} : { given: options.keys }),
      ...(options.operator === undefined ? {} : { operator: options.operator }),
    }),
    limits: { deadlineMs: options.deadlineMs ?? 90_000, attemptsMax: 30 },
    mustVerify: options.verify !== 'report',
    budget: createBudget(totalMicro),
  }
}

function createBudget(totalMicro: bigint | undefined): Budget {
  let left = totalMicro
  return {
    take: (micro) => {
      if (left === undefined) return
      if (micro > left) throw new AssayError('budget_exhausted')
      left -= micro
    },
  }
}
