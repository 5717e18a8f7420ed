import { type DidFailure, didFailure } from './did-error.ts'

/** What a DID URL asks for beyond its document. */
export type DereferenceOptions = {
  path: string
  fragment: string
  service?: string | undefined
  serviceType?: string | undefined
  verificationRelationship?: string | undefined
}

export const relationships = [
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'capabilityInvocation',
  'capabilityDelegation',
] as const

type Item = { id?: unknown; type?: unknown }
const listOf = (value: unknown): Item[] => (Array.isArray(value) ? (value as Item[]) : [])

/** DID URL dereferencing inside one document: services by id or type, verification methods and services by fragment. */
export function dereference(
  document: Record<string, unknown>,
  options: DereferenceOptions,
): { content: Record<string, unknown> } | DidFailure {
  if (options.path !== '') return didFailure('NOT_FOUND', 'No path of a DID URL leads anywhere here.')
  const { service, serviceType, fragment } = options
  if (service === undefined && serviceType === undefined)
    return fragment === '' ? { content: document } : byFragment(document, options)
  if (fragment !== '') return didFailure('NOT_FOUND', 'A selection of services has no fragments.')
  const absolute = (id: string) => (id.startsWith('did:') ? id : `${String(document.id)}#${id.replace(/^#/, '')}`)
  const selected = listOf(document.service).filter(
    (one) =>
      (service === undefined || absolute(String(one.id)) === absolute(service)) &&
      (serviceType === undefined || one.type === serviceType),
  )
  if (selected.length === 0) return didFailure('NOT_FOUND', 'The document has no such service.')
  return { content: { ...document, service: selected } }
}

function byFragment(
  document: Record<string, unknown>,
  { fragment, verificationRelationship }: DereferenceOptions,
): { content: Record<string, unknown> } | DidFailure {
  const id = `${String(document.id)}#${fragment}`
  const method = listOf(document.verificationMethod).find((one) => one.id === id)
  if (verificationRelationship !== undefined) {
    if (method === undefined) return didFailure('NOT_FOUND', 'The fragment names no verification method.')
    if (!listOf(document[verificationRelationship]).includes(id as unknown as Item))
      return didFailure('NOT_FOUND', `The verification method is not one for ${verificationRelationship}.`)
  }
  const found = method ?? listOf(document.service).find((one) => one.id === id)
  return found === undefined
    ? didFailure('NOT_FOUND', 'The document has nothing under this fragment.')
    : { content: found as Record<string, unknown> }
}
