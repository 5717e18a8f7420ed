import { hasChecksum } from '@assay/protocol/address'
import { defaultAnswerDays, minAnswerDays, minPaymentDays } from '@assay/till/store/partitions'
import { z } from 'zod'
import { commaList, flag, jsonObject, usd } from '../shops/shop-settings.ts'

const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
  .optional()
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((value) => value < 65_536, 'must be below 65536')
const daysFrom = (least: number) =>
  z
    .string()
    .regex(/^[1-9][0-9]{0,4}$/, 'must be a number of days')
    .transform(Number)
    .refine((days) => days >= least, `must be at least ${least}`)
const checksummed = z.string().refine((text) => hasChecksum(text), 'must be an address with its EIP-55 checksum')

export const processesMax = 64

/** The node's own part of the environment, name by name; variables.ts describes each. */
export const environmentSchema = z.object({
  ASSAY_MODE: z.enum(['demo', 'production'], 'must be demo or production').default('demo'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(4020),
  PROCESSES: z
    .string()
    .regex(/^(auto|[1-9][0-9]?)$/, 'must be auto or a number of processes')
    .refine((text) => text === 'auto' || Number(text) <= processesMax, `must be at most ${processesMax}`)
    .default('1'),
  ASSAY_HOME: z.string().default('.assay'),
  DATABASE_URL: databaseUrl,
  DATABASE_URL_DIRECT: databaseUrl,
  DATABASE_URL_REPLICA: databaseUrl,
  DATABASE_PORT: port.default(0),
  DEVNET_PORTS: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})+$/, 'must be ports such as 8545,8546, one for each chain')
    .transform((text) => text.split(',').map(Number))
    .default([8545, 8546]),
  NETWORKS: z.enum(['main', 'test'], 'must be main or test').default('main'),
  BASE_RPC_URLS: commaList.default([]),
  POLYGON_RPC_URLS: commaList.default([]),
  CHAINS: jsonObject.optional(),
  DOLLARS: jsonObject.optional(),
  PAY_TO: checksummed.optional(),
  CUSTODY: z.string().optional(),
  BASE_URL: z.string().optional(),
  API_URL: z.string().optional(),
  SIGNING_KEY_FILE: z.string().optional(),
  LOG_KEY_FILE: z.string().optional(),
  FACILITATOR: z.string().optional(),
  MPP: flag.default(true),
  CHANNELS: flag.optional(),
  SCREENING_LIST: z.string().optional(),
  SETTLER_KEYS: z.string().optional(),
  SETTLER_KEYS_FILE: z.string().optional(),
  CUSTODY_KEYS: z.string().optional(),
  CUSTODY_KEYS_FILE: z.string().optional(),
  SIGNER_URL: z.string().optional(),
  SIGNER_CA_FILE: z.string().optional(),
  SIGNER_CERT_FILE: z.string().optional(),
  SIGNER_KEY_FILE: z.string().optional(),
  PAYOUTS: jsonObject.optional(),
  WITHDRAW_TO: z.string().optional(),
  WITHDRAW_EVERY: z
    .string()
    .regex(/^(off|[1-9]\d{0,3}[hd])$/, 'must be off, or hours or days such as 12h or 7d')
    .default('off'),
  WITHDRAW_MINIMUM_USD: usd.default(10_000_000n),
  FACILITATOR_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{32,512}$/, 'must have 32 to 512 visible ASCII characters without spaces')
    .optional(),
  ROYALTY_RECIPIENT: checksummed.optional(),
  CONTENT_LICENSE: z
    .string()
    .regex(/^[A-Za-z0-9.+-]{1,64}$/, 'must be an SPDX expression')
    .default('LicenseRef-Assay-1.0'),
  CONTACT_EMAIL: z
    .string()
    .regex(/^[^@\s]+@[^@\s]+$/, 'must be an e-mail address')
    .default('operator@demo.invalid'),
  SHARED_PAYEES: flag.optional(),
  EXPOSURE_CAP_USD: usd.optional(),
  RPC_CALLS_PER_MINUTE: z
    .string()
    .regex(/^[1-9][0-9]{1,6}$/, 'must be a whole number of calls, 10 or more')
    .transform(Number)
    .optional(),
  ANSWERS_KEPT_DAYS: daysFrom(minAnswerDays).default(defaultAnswerDays),
  PAYMENTS_KEPT_DAYS: daysFrom(minPaymentDays).optional(),
  TRUST_PROXY: z
    .string()
    .regex(/^[0-9]$/, 'must be a number of proxies, 0 to 9')
    .transform(Number)
    .default(0),
  METRICS_PUBLIC: flag.default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  OTEL_SERVICE_NAME: z.string().max(100).default('assay'),
  LOG_LEVEL: z.enum(['silent', 'error', 'warn', 'info']).optional(),
  ERC6492_FACTORIES: z.string().optional(),
  DNS_SERVERS: z.string().default('1.1.1.1,9.9.9.9'),
  DEMO_HOSTS: z.string().optional(),
})

export type Environment = z.infer<typeof environmentSchema>
