/** RFC 1035 messages: one question out, its answers back. Pure, and safe on any bytes. */
export type RecordType = 'A' | 'AAAA' | 'TXT' | 'CAA' | 'CNAME' | 'SRV'

export const typeCodes: Record<RecordType, number> = { A: 1, CNAME: 5, TXT: 16, AAAA: 28, SRV: 33, CAA: 257 }

export type DnsReply = {
  id: number
  truncated: boolean
  authenticated: boolean
  /** 0 NOERROR, 3 NXDOMAIN. */
  code: number
  answers: readonly { name: string; type: number; ttlSeconds: number; data: Uint8Array; text: string }[]
}

const namePattern =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?))*$/

/** Recursion wanted, EDNS with 1232 bytes and the AD bit asked for. Undefined for what is no name. */
export function encodeQuery(id: number, name: string, type: RecordType): Uint8Array | undefined {
  if (!namePattern.test(name)) return undefined
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label, 'ascii')])
  const code = typeCodes[type]
  return Uint8Array.from([
    ...[id >> 8, id & 255, 0x01, 0x20, 0, 1, 0, 0, 0, 0, 0, 1],
    ...labels,
    0,
    ...[code >> 8, code & 255, 0, 1],
    // OPT: no options, so that the question stays the same for everybody.
    ...[0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0],
  ])
}

/** Undefined unless it is a well-formed answer to this question. */
export function decodeReply(bytes: Uint8Array, id: number, name: string, type: RecordType): DnsReply | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.length < 12 || view.readUInt16BE(0) !== id) return undefined
  const flags = view.readUInt16BE(2)
  if ((flags & 0x8000) === 0 || view.readUInt16BE(4) !== 1) return undefined
  const question = readName(view, 12)
  if (!question || question.name !== name || question.end + 4 > view.length) return undefined
  if (view.readUInt16BE(question.end) !== typeCodes[type]) return undefined
  const answers = readRecords(view, question.end + 4, view.readUInt16BE(6))
  if (!answers) return undefined
  return { id, truncated: (flags & 0x0200) !== 0, authenticated: (flags & 0x0020) !== 0, code: flags & 15, answers }
}

const answersMax = 64

function readRecords(view: Buffer, start: number, count: number): DnsReply['answers'] | undefined {
  if (count > answersMax) return undefined
  const records = []
  let at = start
  for (let index = 0; index < count; index += 1) {
    const owner = readName(view, at)
    if (!owner || owner.end + 10 > view.length) return undefined
    const type = view.readUInt16BE(owner.end)
    const length = view.readUInt16BE(owner.end + 8)
    const dataAt = owner.end + 10
    if (dataAt + length > view.length) return undefined
    const data = view.subarray(dataAt, dataAt + length)
    const text = textOf(view, type, dataAt, data)
    if (text === undefined) return undefined
    records.push({ name: owner.name, type, ttlSeconds: view.readUInt32BE(owner.end + 4), data, text })
    at = dataAt + length
  }
  return records
}

function textOf(view: Buffer, type: number, at: number, data: Buffer): string | undefined {
  if (type === typeCodes.A) return data.length === 4 ? [...data].join('.') : undefined
  if (type === typeCodes.AAAA) return data.length === 16 ? ip6Text(data) : undefined
  if (type === typeCodes.CNAME) return readName(view, at)?.name
  if (type === typeCodes.TXT) return characterStrings(data)
  if (type === typeCodes.CAA) return caaText(data)
  if (type === typeCodes.SRV) return srvText(view, at, data)
  return ''
}

const ip6Text = (data: Buffer) =>
  Array.from({ length: 8 }, (_, group) => data.readUInt16BE(group * 2).toString(16)).join(':')

/** The strings of one TXT record are one text, as SPF and DKIM read them. */
function characterStrings(data: Buffer): string | undefined {
  let text = ''
  for (let at = 0; at < data.length; ) {
    const length = data[at] ?? 0
    if (at + 1 + length > data.length) return undefined
    text += data.toString('latin1', at + 1, at + 1 + length)
    at += 1 + length
  }
  return text
}

function caaText(data: Buffer): string | undefined {
  const tagLength = data[1] ?? 0
  if (data.length < 2 + tagLength) return undefined
  return `${data[0]} ${data.toString('latin1', 2, 2 + tagLength)} ${data.toString('latin1', 2 + tagLength)}`
}

/** Priority, weight, port and target (RFC 2782), as zone files write them. */
function srvText(view: Buffer, at: number, data: Buffer): string | undefined {
  const target = data.length < 7 ? undefined : readName(view, at + 6)
  if (target === undefined || target.end !== at + data.length) return undefined
  return `${data.readUInt16BE(0)} ${data.readUInt16BE(2)} ${data.readUInt16BE(4)} ${target.name}.`
}

/** Compression pointers must point back, so that no message can send the reader round in circles. */
function readName(view: Buffer, start: number): { name: string; end: number } | undefined {
  const labels: string[] = []
  let at = start
  let end: number | undefined
  let length = 0
  for (;;) {
    const size = view[at]
    if (size === undefined) return undefined
    if (size === 0) return { name: labels.join('.').toLowerCase(), end: end ?? at + 1 }
    if ((size & 0xc0) === 0xc0) {
      const low = view[at + 1]
      if (low === undefined) return undefined
      end ??= at + 2
      const target = ((size & 0x3f) << 8) | low
      if (target >= at || labels.length > 127) return undefined
      at = target
    } else {
      if (size > 63 || at + 1 + size > view.length) return undefined
      length += size + 1
      if (length > 254) return undefined
      labels.push(view.toString('latin1', at + 1, at + 1 + size))
      at += 1 + size
    }
  }
}
