import { fromRlp, keccak256, toRlp } from 'viem/utils'

type Hex = `0x${string}`

/** What a header says, by its own bytes. */
export type BlockHeader = { hash: Hex; parentHash: Hex; stateRoot: Hex; number: bigint; timestamp: bigint }

const isHash = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value)
const isWord = (value: unknown): value is Hex => typeof value === 'string' && /^0x([0-9a-f]{2}){0,8}$/.test(value)

/** Undefined for bytes that are no header. Fields that later forks append do not matter here. */
export function readHeader(bytes: unknown): BlockHeader | undefined {
  if (typeof bytes !== 'string' || !/^0x([0-9a-f]{2})+$/.test(bytes)) return undefined
  const fields = decode(bytes as Hex)
  if (!Array.isArray(fields) || fields.length < 15) return undefined
  const [parentHash, stateRoot, number, timestamp] = [fields[0], fields[3], fields[8], fields[11]]
  if (!isHash(parentHash) || !isHash(stateRoot) || !isWord(number) || !isWord(timestamp)) return undefined
  const [count, seconds] = [number, timestamp].map((word) => BigInt(word === '0x' ? 0 : word)) as [bigint, bigint]
  return { hash: keccak256(bytes as Hex), parentHash, stateRoot, number: count, timestamp: seconds }
}

function decode(bytes: Hex): unknown {
  try {
    return fromRlp(bytes, 'hex')
  } catch {
    return undefined
  }
}

// In the order of the bytes; each fork appended some, and a chain has all up to its own.
const fieldNames = ['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom']
const quantityNames = ['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp']
const laterNames = ['withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash']
const quantities = new Set([...quantityNames, 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'])

/** The bytes of a header from the block that JSON-RPC gives; undefined where they have another hash than it says. */
export function encodeHeader(block: Readonly<Record<string, unknown>>): Hex | undefined {
  const names = [...fieldNames, ...quantityNames, 'extraData', 'mixHash', 'nonce', 'baseFeePerGas', ...laterNames]
  const fields: Hex[] = []
  for (const name of names) {
    const value = block[name]
    if (value === undefined || value === null) {
      if (!laterNames.includes(name) && name !== 'baseFeePerGas') return undefined
      continue
    }
    if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value)) return undefined
    fields.push(quantities.has(name) ? shortest(value) : (value.toLowerCase() as Hex))
  }
  const bytes = toRlp(fields)
  return keccak256(bytes) === block.hash ? bytes : undefined
}

function shortest(quantity: string): Hex {
  const digits = quantity.slice(2).toLowerCase().replace(/^0+/, '')
  return `0x${digits.length % 2 === 1 ? '0' : ''}${digits}`
}
