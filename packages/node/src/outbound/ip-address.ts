/** IPv4 and IPv6 text as a number, strictly: no octal, no hex, no short forms, no zone. */
export type IpAddress = { version: 4 | 6; value: bigint }

const decimalByte = /^(?:0|[1-9]\d{0,2})$/
const hexGroup = /^[0-9a-fA-F]{1,4}$/

export function parseIp(text: string): IpAddress | undefined {
  if (text.length > 45) return undefined
  return text.includes(':') ? parseIp6(text) : parseIp4(text)
}

function parseIp4(text: string): IpAddress | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => decimalByte.test(part) && Number(part) < 256)) return undefined
  return { version: 4, value: parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) }
}

function parseIp6(text: string): IpAddress | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groupsOf(halves[0] ?? '', halves.length === 1)
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? '', true) : []
  if (!head || !tail) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail]
  return { version: 6, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n) }
}

/** `mayEndInIp4`: only the last group of the whole address can be written as IPv4. */
function groupsOf(text: string, mayEndInIp4: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (mayEndInIp4 && index === parts.length - 1 && part.includes('.')) {
      const embedded = parseIp4(part)
      if (!embedded) return undefined
      groups.push(Number(embedded.value >> 16n), Number(embedded.value & 0xffffn))
    } else if (hexGroup.test(part)) groups.push(Number.parseInt(part, 16))
    else return undefined
  }
  return groups.length <= 8 ? groups : undefined
}
