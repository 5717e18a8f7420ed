import { findTextFault } from '@assay/protocol/plain-text'

export type FieldProblem = { field: string; problem: string }

/** The query, decoded strictly; the fields that are no part of the resource are removed from it. */
export type ReadQuery = {
  fields: Record<string, string>
  /** Raw, in the caller's order, without those; "" or starting with `?`. */
  resourceQuery: string
  /** Name and value of each that was removed. */
  aside: [name: string, value: string][]
  problems: FieldProblem[]
}

const fieldsMax = 64
const none: ReadonlySet<string> = new Set()

export function readQuery(query: string, aside: ReadonlySet<string> = none): ReadQuery {
  const read: ReadQuery = { fields: {}, resourceQuery: '', aside: [], problems: [] }
  if (query.length < 2) return read
  const pieces = query.slice(1).split('&')
  if (pieces.length > fieldsMax) {
    read.problems.push({ field: 'query', problem: `has more than ${fieldsMax} fields` })
    return read
  }
  const kept: string[] = []
  for (const piece of pieces) if (!takePiece(read, piece, aside)) kept.push(piece)
  read.resourceQuery = kept.length > 0 ? `?${kept.join('&')}` : ''
  return read
}

/** True when the piece is no part of the resource. */
function takePiece(read: ReadQuery, piece: string, aside: ReadonlySet<string>): boolean {
  const equals = piece.indexOf('=')
  const name = decode(equals < 0 ? piece : piece.slice(0, equals))
  const value = decode(equals < 0 ? '' : piece.slice(equals + 1))
  if (name === undefined || value === undefined) {
    read.problems.push({ field: 'query', problem: 'is not valid percent-encoded UTF-8' })
    return false
  }
  const fault = findTextFault(name) ?? findTextFault(value)
  if (fault !== undefined) {
    read.problems.push({ field: 'query', problem: fault })
    return false
  }
  if (aside.has(name)) {
    read.aside.push([name, value])
    return true
  }
  if (name === '__proto__' || name === '')
    read.problems.push({ field: `query.${name}`, problem: 'is not a known field' })
  else if (Object.hasOwn(read.fields, name)) read.problems.push({ field: `query.${name}`, problem: 'is given twice' })
  else read.fields[name] = value
  return false
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
