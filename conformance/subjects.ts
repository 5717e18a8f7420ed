import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { TestFacilitator } from '../packages/conformance/src/facilitator/index.ts'

export type Subject = {
  id: string
  title: string
  package: string
  ours: boolean
  /** The paid route. */
  path: string
  /** The program, as arguments of Node. */
  program: readonly string[]
  /** Its settings: the facilitator of the suite, its chain and its test dollar. */
  env(place: Place): Record<string, string>
}

type Place = { port: number; facilitator: TestFacilitator; databaseUrl: string; polygonRpc: string }

const root = join(import.meta.dirname, '..')
const tsx = createRequire(import.meta.url).resolve('tsx')

const inFile = (id: string, title: string, name: string, ours: boolean): Subject => ({
  ...{ id, title, package: name, ours, path: '/weather' },
  program: ['--import', tsx, join(import.meta.dirname, 'subjects', `${id}.ts`)],
  env: ({ port, facilitator, databaseUrl }) => ({
    ...{ PORT: String(port), FACILITATOR_URL: facilitator.url, RPC_URL: facilitator.rpc, ASSET: facilitator.asset },
    ...{ NETWORK: facilitator.network, DATABASE_URL: databaseUrl },
    PAY_TO: getAddress(privateKeyToAccount(generatePrivateKey()).address),
  }),
})

/** A demo node that joins the chain of the suite and settles through its facilitator. */
const node: Subject = {
  ...{ id: 'node', title: 'Assay node', package: '@assay/node', ours: true },
  path: '/v1/sandbox/echo?message=hi',
  program: [join(root, 'scripts', 'start.mjs')],
  env: ({ port, facilitator, databaseUrl, polygonRpc }) => ({
    ...{ PORT: String(port), FACILITATOR: facilitator.url, DATABASE_URL: databaseUrl },
    ...{ BASE_RPC_URLS: facilitator.rpc, POLYGON_RPC_URLS: polygonRpc },
    ASSAY_HOME: mkdtempSync(join(tmpdir(), 'conformance-node-')),
  }),
}

export const subjects: readonly Subject[] = [
  inFile('x402-hono', '@x402/hono', '@x402/hono', false),
  inFile('x402-express', '@x402/express', '@x402/express', false),
  inFile('mppx-hono', 'mppx on Hono', 'mppx', false),
  inFile('till-hono', '@assay/till on Hono', '@assay/till', true),
  inFile('till-express', '@assay/till on Express', '@assay/till', true),
  node,
]

/** A shell command with its environment, so that subjects can run side by side. */
export function startCommand({ program, env }: Subject, place: Place): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const settings = Object.entries(env(place)).map(([name, value]) => quoted(`${name}=${value}`))
  return ['exec env', ...settings, quoted(process.execPath), ...program.map(quoted)].join(' ')
}
