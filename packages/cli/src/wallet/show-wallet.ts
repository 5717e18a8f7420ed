import { isLoopbackUrl } from '@assay/protocol/loopback'
import { baseNetwork, formatUsd, polygonNetwork } from '@assay/sdk'
import { type Address, createPublicClient, erc20Abi, getAddress, http, isAddress } from 'viem'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import { networkTitle } from '../buy/describe.ts'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import { unreachableHints } from '../report-error.ts'
import { nodeLines } from './wallet-lines.ts'

export type ShowWalletOptions = WalletOptions & { url: string; rpc?: string[]; json?: boolean }

type Balance = { network: string; usdc_micro: string | null; problem?: string }

/** What the chains and the node say of a wallet; a part that cannot be had is left out by name, not guessed. */
export async function showWallet(
  { terminal }: CommandContext,
  given: string | undefined,
  options: ShowWalletOptions,
): Promise<void> {
  if (given !== undefined && !isAddress(given, { strict: false })) throw usageError(`not a wallet address: ${given}`)
  const address = getAddress(given ?? (await chooseWallet(options.url, options, terminal)).account.address)
  const [balances, ...parts] = await Promise.all([
    readBalances(address, options),
    ...Object.entries(paths).map(async ([name, path]) => [name, await ask(options.url, path(address))] as const),
  ])
  const node = Object.fromEntries(parts)
  if (balances.length === 0 && Object.values(node).every((part) => part === unanswered))
    throw new CliError(exitCodes.failed, 'request_failed', `The request failed: ${options.url}`, {
      hint: unreachableHints['ECONNREFUSED'] ?? '',
    })
  printResult(terminal, options.json, { address, balances, ...node }, () =>
    [
      address,
      ...balances.map(
        ({ network, usdc_micro, problem }) =>
          `  on chain   ${networkTitle(network).padEnd(22)}${usdc_micro === null ? problem : `${formatUsd(BigInt(usdc_micro))} USDC`}`,
      ),
      ...(balances.length === 0 ? ['  on chain   unknown; name a chain with --rpc <url>'] : []),
      ...nodeLines(node),
    ].join('\n'),
  )
}

const paths: Record<string, (address: string) => string> = {
  credit: (address) => `/v1/credit/${address}`,
  loyalty: (address) => `/loyalty/${address}`,
  affiliate: (address) => `/affiliate/${address}`,
  identity: (address) => `/v1/did/resolve/did:x402:${address.toLowerCase()}`,
}

const unanswered = { problem: 'the node did not answer' }

async function ask(url: string, path: string): Promise<unknown> {
  const response = await fetch(new URL(path, url), { headers: { accept: 'application/json' } }).catch(() => undefined)
  if (!response) return unanswered
  return response.ok ? response.json() : { problem: `answered with ${response.status}` }
}

async function readBalances(address: Address, options: ShowWalletOptions): Promise<Balance[]> {
  const demo = isLoopbackUrl(options.url) ? await demoChains(options.url) : []
  const chains = [...demo, ...(options.rpc ?? []).map((rpc) => ({ rpc, usdc: undefined }))]
  return Promise.all(chains.map((chain) => readBalance(address, chain)))
}

type Chain = { rpc: string; usdc: Address | undefined }

async function demoChains(url: string): Promise<Chain[]> {
  const index = (await ask(url, '/')) as { demo?: { chains?: { rpc: string; usdc: Address }[] } }
  return index.demo?.chains ?? []
}

const real: Record<string, string> = Object.fromEntries(
  [baseNetwork, polygonNetwork].map(({ network, usdc }) => [network, usdc]),
)

async function readBalance(address: Address, { rpc, usdc }: Chain): Promise<Balance> {
  const client = createPublicClient({ transport: http(rpc) })
  try {
    const network = `eip155:${await client.getChainId()}`
    const token = usdc ?? (real[network] as Address | undefined)
    if (token === undefined) return { network, usdc_micro: null, problem: 'the USDC of this chain is not known' }
    const micro = await client.readContract({
      address: token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [address],
    })
    return { network, usdc_micro: micro.toString() }
  } catch {
    return { network: rpc, usdc_micro: null, problem: 'the chain did not answer' }
  }
}
