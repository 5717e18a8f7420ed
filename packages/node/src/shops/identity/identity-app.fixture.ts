import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import type { AnswerContent } from '@assay/till'
import { sha256 } from '@assay/till/kernel/bytes'
import { openTestDatabase } from '@assay/till/store/testing'
import { privateKeyToAccount } from 'viem/accounts'
import { type Seen, type SentRequest, send, testApp } from '../../http/http-app.fixture.ts'
import type { HttpAppConfig, RouteDeclaration } from '../../http/index.ts'
import { declarationRoutes } from './agents/declaration-routes.ts'
import { agentRoutes } from './agents/routes.ts'
import { agentWriteRoutes } from './agents/write-routes.ts'
import { createResolveCache } from './did/resolve-cache.ts'
import { resolveRoutes } from './did/resolve-routes.ts'
import { createTestIdentity, signedHeaders, startMs, type TestIdentity, type ToSign } from './identity.fixture.ts'
import { registrationRoute } from './registration-route.ts'
import { parseIdentitySettings } from './settings.ts'

export const registry = '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432'
const peer = {
  did: 'did:web:peer.test',
  url: 'https://peer.test',
  keys: [{ keyId: 'k1', x: 'AAAA' }],
  seenAtMs: startMs,
}

export const host = 'node.test:4020'
export const account = (name: string) => privateKeyToAccount(toHex(sha256(name)))
export const walletOf = (name: string) => account(name).address.toLowerCase() as Address
export const didOf = (name: string) => `did:x402:${walletOf(name)}`

const mandated = walletOf('mandated')
let nonces = 0
export function nextNonce(): string {
  nonces += 1
  return `nonce-number-${nonces}`
}

type Signed = { as: string; method?: string; target: string; body?: unknown; sign?: Partial<ToSign>; host?: string }

/** The rest of the configuration is what a test app has anyway; routes of other shops are not there to lead to. */
export function appFor(deps: TestIdentity, routes: readonly RouteDeclaration[]) {
  const config = { baseUrl: deps.baseUrl, apiUrl: deps.apiUrl } as HttpAppConfig
  return testApp({ routes: routes.map((route) => ({ ...route, next: '/' })), config })
}

/** All routes of the shop behind the real HTTP app, on a real database. */
export async function openIdentityApp() {
  const db = await openTestDatabase({ poolSize: 6 })
  /** Whom the registry on chain names for agent 42. */
  const chain: { registered: Address | undefined } = { registered: undefined }
  const deps = createTestIdentity(db.database, {
    ports: {
      meshNodes: { find: async (_sql, did) => (did === peer.did ? peer : undefined) },
      mandates: {
        openSql: (wallet) => `select 'mnd_1' as id where ${wallet} = '${mandated}'`,
        show: (rows) => rows,
      },
    },
    registries: {
      registryOn: async (network) => (network === 'eip155:8453' ? `eip155:8453:${registry}` : undefined),
      walletOf: async (network, id) => (network === 'eip155:8453' && id === '42' ? chain.registered : undefined),
    },
  })
  const cache = createResolveCache<AnswerContent>(deps.clock)
  const settings = parseIdentitySettings({ erc8004_registrations: [{ network: 'eip155:8453', agent_id: '7' }] })
  const app = appFor(deps, [
    ...resolveRoutes({ ...deps, cache }),
    ...agentRoutes(deps),
    ...declarationRoutes(deps),
    ...agentWriteRoutes({ ...deps, evict: cache.evict }),
    registrationRoute(deps, settings),
  ])
  const ask = (target: string, more: SentRequest = {}): Promise<Seen> => send(app, { target, host, ...more })
  const write = async ({ as, method = 'PUT', target, body, sign, host: sentTo = host }: Signed): Promise<Seen> => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = await signedHeaders(account(as), {
      method,
      target,
      createdMs: deps.clock.nowMs(),
      nonce: nextNonce(),
      ...(text === undefined ? {} : { body: text }),
      ...sign,
    })
    return send(app, { target, method, host: sentTo, headers, ...(text === undefined ? {} : { body: text }) })
  }
  return {
    db,
    deps,
    chain,
    ask,
    write,
    resolve: (did: string, accept?: string, base = '/v1/did/resolve/') =>
      ask(`${base}${did}`, accept === undefined ? {} : { headers: { Accept: accept } }),
    declare: (as: string, capabilities: unknown[], more: Record<string, unknown> = {}) =>
      write({ as, target: `/v1/agents/${didOf(as)}/capabilities`, body: { capabilities, ...more } }),
  }
}
