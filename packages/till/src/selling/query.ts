import { findTextFault } from '@assay/protocol/plain-text'

export type FieldProblem = { field: string; problem: string }

/** The query, decoded strictly; `ref` and `aff` are removed from it where they name who brought the buyer. */
export type ReadQuery = {
  fields: Record<string, string>
  /** Raw, in the caller's order, without attribution; "" or starting with `?`. */
  resourceQuery: string
  attribution: { ref: string[]; aff: string[] }
  problems: FieldProblem[]
}

const fieldsMax = 64

export function readQuery(query: string, takesAttribution = true): ReadQuery {
  const read: ReadQuery = { fields: {}, resourceQuery: '', attribution: { ref: [], aff: [] }, problems: [] }
  if (query.length < 2) return read
  const pieces = query.slice(1).split('&')
  if (pieces.length > fieldsMax) {
    read.problems.push({ field: 'query', problem: `has more than ${fieldsMax} fields` })
    return read
  }
  const kept: string[] = []
  for (const piece of pieces) if (!takePiece(read, piece, takesAttribution)) kept.push(piece)
  read.resourceQuery = kept.length > 0 ? `?${kept.join('&')}` : ''
  return read
}

/** True when the piece belongs to attribution and so is no part of the resource. */
function takePiece(read: ReadQuery, piece: string, takesAttribution: boolean): boolean {
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
  if (takesAttribution && (name === 'ref' || name === 'aff')) {
    read.attribution[name].push(value)
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
