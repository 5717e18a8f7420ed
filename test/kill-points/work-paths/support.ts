import { createServer } from 'node:http'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../../packages/protocol/src/address.ts'
import { signRequest } from '../../../packages/sdk/src/index.ts'
import { onLoopback } from '../../../packages/till/src/kernel/on-loopback.fixture.ts'
import { accounts, owedTo } from '../../../packages/till/src/ledger/index.ts'
import { spentOnChain } from '../../harness/invariants.ts'
import { postJson } from '../../harness/post-json.ts'
import type { JobHarness } from '../job-harness.ts'

export const network = 'eip155:8453'

/** What a wallet has on chain. */
export const balanceOn = async ({ till }: JobHarness, wallet: string): Promise<bigint> =>
  -(await spentOnChain(till, 'base', wallet, 0n))

export const creditOf = ({ till }: JobHarness, wallet: string): Promise<bigint> =>
  owedTo(till.db.owner, accounts.credit(network, wallet.toLowerCase() as Address))

export async function rowOf<T>({ till }: JobHarness, sql: string, values: unknown[]): Promise<T | undefined> {
  return (await till.db.owner.query(sql, values)).rows[0] as T | undefined
}

export async function countOf(harness: JobHarness, sql: string, values: unknown[]): Promise<number> {
  return Number((await rowOf<{ n: bigint }>(harness, `select count(*) as n from ${sql}`, values))?.n)
}

/** A request signed by its wallet, as somebody with nothing but HTTP would send it. */
export async function sendSigned(
  account: PrivateKeyAccount,
  url: string,
  body: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const signed = await signRequest(url, postJson(body), { account })
  const response = await fetch(signed)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Pages under as many names as deaths may need, so that each has its own creator. */
export async function openSites(names: number, only?: string) {
  const site = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    const words = `Words worth citing at ${request.headers.host}, on their own page.`
    response.end(`<html><body><article><h1>Page</h1><p>${words}</p></article></body></html>`)
  })
  const { port, close } = await onLoopback(site)
  const hosts = only === undefined ? Array.from({ length: names }, (_, index) => siteName(index)) : [only]
  return {
    demoHosts: hosts.map((host) => `${host}=127.0.0.1:${port}`).join(','),
    close,
  }
}

export const siteName = (index: number) => `cited${index}.test`
