import { askOver, type Evidence, type EvidenceCheck, formatUsd } from '@assay/sdk'
import { decodeEventLog, parseAbi } from 'viem/utils'

const events = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

type Log = { address: string; topics: [`0x${string}`, ...`0x${string}`[]]; data: `0x${string}` }
type Receipt = { status: string; blockNumber: string; logs: Log[] }

/**
 * The transfer that the payer signed for, in a transaction that succeeded: the asset says that this nonce was used and
 * that the amount went from payer to payee. An endpoint that cannot be asked leaves the check open.
 */
export async function checkSettlement(evidence: Evidence, rpc: string): Promise<EvidenceCheck> {
  const { payment } = evidence
  const transaction = payment?.transaction ?? namedIn(evidence)
  if (!payment || !transaction) return open('the file names no transaction')
  const ask = askOver(rpc)
  try {
    const network = `eip155:${BigInt((await ask('eth_chainId', [])) as string)}`
    if (network !== payment.network) return open(`--rpc is ${network}, the payment is on ${payment.network}`)
    const receipt = (await ask('eth_getTransactionReceipt', [transaction])) as Receipt | null
    if (receipt === null) return failed(`${network} has no transaction ${transaction}`)
    if (receipt.status !== '0x1') return failed(`transaction ${transaction} was reverted`)
    const { from, to, value, nonce } = payment.authorization
    const seen = eventsOf(receipt, payment.asset)
    const used = seen.some((event) => event.is === `used ${nonce} ${from}`.toLowerCase())
    const moved = seen.some((event) => event.is === `moved ${value} ${from} ${to}`.toLowerCase())
    if (!used || !moved) return failed(`transaction ${transaction} does not carry the transfer that was signed`)
    return {
      name: 'settlement',
      status: 'passed',
      detail: `${formatUsd(BigInt(value))} USD moved in ${transaction}, block ${BigInt(receipt.blockNumber)} of ${network}`,
    }
  } catch (error) {
    return open(error instanceof Error ? error.message : String(error))
  }
}

const open = (detail: string): EvidenceCheck => ({ name: 'settlement', status: 'not_checked', detail })
const failed = (detail: string): EvidenceCheck => ({ name: 'settlement', status: 'failed', detail })

function namedIn({ response }: Evidence): string | undefined {
  const header = new Headers(response?.headers ?? []).get('payment-response')
  if (header === null) return undefined
  try {
    const { transaction } = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as { transaction?: unknown }
    return typeof transaction === 'string' ? transaction : undefined
  } catch {
    return undefined
  }
}

/** Events of the asset as short texts: another contract can emit anything. */
function eventsOf({ logs }: Receipt, asset: string): { is: string }[] {
  return logs
    .filter(({ address }) => address.toLowerCase() === asset.toLowerCase())
    .flatMap(({ topics, data }) => {
      try {
        const { eventName, args } = decodeEventLog({ abi: events, topics, data })
        const text =
          eventName === 'Transfer'
            ? `moved ${args.value} ${args.from} ${args.to}`
            : `used ${args.nonce} ${args.authorizer}`
        return [{ is: text.toLowerCase() }]
      } catch {
        return []
      }
    })
}
