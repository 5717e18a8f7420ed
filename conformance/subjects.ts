import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { TestFacilitator } from '../packages/conformance/src/facilitator/index.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'

export type Subject = {
  id: string
  title: string
  package: string
  ours: boolean
  /** The paid route, and another one. */
  path: string
  otherPath: string
  /** USD that may be signed. */
  cap: string
  /** The program, as arguments of Node. */
  program: readonly string[]
  /** Its settings: the facilitator of the suite, its chain and its test dollar. */
  env(place: Place): Record<string, string>
  /** Where cases that the first settings do not allow are checked: channels need a wallet of the seller itself. */
  also?: readonly Pick<Subject, 'path' | 'cap' | 'env'>[]
}

type Place = { port: number; facilitator: TestFacilitator; databaseUrl: string; polygonRpc: string }

const root = join(import.meta.dirname, '..')
const tsx = createRequire(import.meta.url).resolve('tsx')

const settings = ({ port, facilitator, databaseUrl }: Place) => ({
  ...{ PORT: String(port), FACILITATOR_URL: facilitator.url, RPC_URL: facilitator.rpc, ASSET: facilitator.asset },
  ...{ NETWORK: facilitator.network, DATABASE_URL: databaseUrl },
  PAY_TO: getAddress(privateKeyToAccount(generatePrivateKey()).address),
})

const inFile = (id: string, title: string, name: string): Subject => ({
  ...{ id, title, package: name, ours: false, path: '/weather', otherPath: '/forecast', cap: '2' },
  program: ['--import', tsx, join(import.meta.dirname, 'subjects', `${id}.ts`)],
  env: settings,
})

const till = (id: string, title: string): Subject => {
  const subject: Subject = { ...inFile(id, title, '@assay/till'), ours: true }
  const env = (place: Place) => ({ ...settings(place), SETTLER_KEY: demoAccount('settler').privateKey })
  return { ...subject, also: [{ path: subject.path, cap: subject.cap, env }] }
}

/** A demo node that joins the chain of the suite. */
const joins = ({ port, facilitator, databaseUrl, polygonRpc }: Place) => ({
  ...{ PORT: String(port), DATABASE_URL: databaseUrl },
  ...{ BASE_RPC_URLS: facilitator.rpc, POLYGON_RPC_URLS: polygonRpc },
  ASSAY_HOME: mkdtempSync(join(tmpdir(), 'conformance-node-')),
})

const node: Subject = {
  ...{ id: 'node', title: 'Assay node', package: '@assay/node', ours: true, cap: '20' },
  ...{ path: '/v1/sandbox/meter?text=hello', otherPath: '/v1/sandbox/echo?message=hi' },
  program: [join(root, 'scripts', 'start.mjs')],
  env: (place) => ({ ...joins(place), FACILITATOR: place.facilitator.url }),
  also: [
    { path: '/v1/sandbox/meter?text=hello', cap: '10', env: joins },
    { path: '/v1/credit/topup?usd=1', cap: '100', env: joins },
  ],
}

export const subjects: readonly Subject[] = [
  inFile('x402-hono', '@x402/hono', '@x402/hono'),
  inFile('x402-express', '@x402/express', '@x402/express'),
  inFile('mppx-hono', 'mppx on Hono', 'mppx'),
  till('till-hono', '@assay/till on Hono'),
  till('till-express', '@assay/till on Express'),
  node,
]

/** A shell command with its environment, so that subjects can run side by side. */
export function startCommand({ program, env }: Pick<Subject, 'program' | 'env'>, place: Place): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const settings = Object.entries(env(place)).map(([name, value]) => quoted(`${name}=${value}`))
  return ['exec env', ...settings, quoted(process.execPath), ...program.map(quoted)].join(' ')
}
