import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { parseJsonObject } from '@assay/protocol/json-object'
import { type Micro, parseUsd } from '@assay/protocol/money'
import type { PayoutPolicy, WithdrawPolicy } from '@assay/till/payouts'
import { z } from 'zod'
import type { LoopbackTarget } from '../outbound/index.ts'

/** One variable of the environment. docs/configuration.md is compared with it by a test. */
export type Variable = {
  kind: 'json' | 'list' | 'flag' | 'text'
  /** Of a text: what it must match, and how to say so. */
  must?: readonly [RegExp, string]
  /** What an unset variable stands for; in demo mode `demo` goes before it. */
  default?: string
  demo?: string
  /** How the documents show the default, where that is not the text itself. */
  shown?: string
  description: string
  /** Its value must not be seen in any log, answer or page. */
  secret: boolean
  /** Why a production node cannot do without it. */
  required?: string
}

export type Variables = Readonly<Record<string, Variable>>

type ValueOf<V extends Variable> = V['kind'] extends 'json'
  ? Record<string, unknown>
  : V['kind'] extends 'list'
    ? readonly string[]
    : V['kind'] extends 'flag'
      ? boolean
      : string | undefined

export type Values<V extends Variables> = { readonly [N in keyof V]: ValueOf<V[N]> }

/** What the node is set to, as far as shops build on it. */
export type NodeFacts = {
  demo: boolean
  payTo: Address
  contactEmail: string
  royaltyRecipient: Address
  contentLicense: string
  /** Recursive resolvers, and names under `.test` that a demo node asks at loopback. */
  dnsServers: readonly string[]
  demoHosts: ReadonlyMap<string, LoopbackTarget>
  payouts: PayoutPolicy
  withdrawals: WithdrawPolicy
  /** Keys that the node uses itself, which no shop may have as its own. */
  ownKeys: readonly Hex[]
}

/** All that is wrong with the settings of one shop. */
export class SettingsError extends RangeError {
  override readonly name = 'SettingsError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('; '))
    this.problems = problems
  }
}

const usdText = (isAllowed: (micro: Micro) => boolean, message: string) =>
  z.string().transform((text, context): Micro => {
    const micro = parseUsd(text)
    if (micro === undefined || !isAllowed(micro)) context.addIssue({ code: 'custom', message })
    return micro ?? 0n
  })

/** Members that are an amount or a price. */
export const usd = usdText(() => true, 'must be decimal USD such as 2500 or 0.5')
export const usdAboveZero = usdText((micro) => micro > 0n, 'must be decimal USD above 0')

/** The members of a JSON variable. */
export function parseMembers<T>(variable: string, schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given ?? {})
  if (parsed.success) return parsed.data
  throw new SettingsError(
    parsed.error.issues.map((issue) => `${variable}: ${issue.path.join('.')} ${issue.message}`.replace('  ', ' ')),
  )
}

export const jsonObject = z.string().transform((text, context) => {
  const value = parseJsonObject(text)
  if (value === undefined) context.addIssue({ code: 'custom', message: 'must be a JSON object' })
  return value ?? {}
})
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')

const kinds: Record<Variable['kind'], z.ZodType> = {
  json: jsonObject,
  list: commaList,
  flag,
  text: z.string(),
}

const unset: Record<Variable['kind'], unknown> = { json: {}, list: [], flag: false, text: undefined }

/** The value of one variable, or what is wrong with its text. */
export function readVariable(
  name: string,
  variable: Variable,
  given: string | undefined,
  demo: boolean,
): { value: unknown } | { problem: string } {
  const text = given ?? (demo ? variable.demo : undefined) ?? variable.default
  if (text === undefined)
    return variable.required !== undefined && !demo
      ? { problem: `${name}: missing, ${variable.required}` }
      : { value: unset[variable.kind] }
  if (variable.must !== undefined && !variable.must[0].test(text)) return { problem: `${name}: ${variable.must[1]}` }
  const parsed = kinds[variable.kind].safeParse(text)
  return parsed.success ? { value: parsed.data } : { problem: `${name}: ${parsed.error.issues[0]?.message}` }
}
