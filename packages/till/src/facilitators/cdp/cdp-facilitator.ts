import type { Micro } from '@assay/protocol/money'
import type { Facilitator } from '../../contract/facilitator.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Rng } from '../../kernel/random.ts'
import type { Sql } from '../../store/database.ts'
import type { HttpExchange } from '../http/http-exchange.ts'
import { createHttpFacilitator } from '../http/http-facilitator.ts'
import { createCdpJwt, readCdpKey } from './cdp-jwt.ts'
import { cdpFeeMicro, countSettlement } from './facilitator-usage.ts'

export type CdpFacilitatorOptions = {
  apiKeyId: string
  apiKeySecret: string
  sql: Sql
  clock: Clock
  rng: Rng
  log: Log
  metrics: Metrics
  /** Settlements a month that cost nothing; 1,000 unless the contract says otherwise. */
  freePerMonth?: bigint
  /** The fee of the settlement with this number in its month; default: CDP's price list. */
  feeMicroOf?(numberThisMonth: bigint): Micro
  baseUrl?: string
  settleTimeoutMs?: number
  exchange?: HttpExchange
}

export const cdpBaseUrl = 'https://api.cdp.coinbase.com/platform/v2/x402'

const correlation = 'sdk_language=typescript,source=assay,source_version=1.0.0'

/** The hosted facilitator of Coinbase: an x402 facilitator whose calls are each signed with an API key. */
export function createCdpFacilitator(options: CdpFacilitatorOptions): Facilitator {
  const { clock, rng, sql } = options
  const key = readCdpKey(options.apiKeyId, options.apiKeySecret)
  const feeOf = options.feeMicroOf ?? ((number: bigint) => cdpFeeMicro(number, options.freePerMonth ?? 1_000n))
  return createHttpFacilitator({
    name: 'cdp',
    baseUrl: options.baseUrl ?? cdpBaseUrl,
    log: options.log,
    metrics: options.metrics,
    ...(options.settleTimeoutMs === undefined ? {} : { settleTimeoutMs: options.settleTimeoutMs }),
    ...(options.exchange ? { exchange: options.exchange } : {}),
    headersFor: (method, url) => ({
      authorization: `Bearer ${createCdpJwt(key, { method, url }, clock, rng)}`,
      'correlation-context': correlation,
    }),
    feeMicro: async () => feeOf(await countSettlement(sql, 'cdp', clock)),
  })
}
