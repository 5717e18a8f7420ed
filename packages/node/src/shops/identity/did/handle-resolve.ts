import type { AnswerContent } from '@assay/till'
import type { CallContext } from '../../../http/index.ts'
import type { IdentityDeps } from '../deps.ts'
import { answerDereferencing, answerResolution, dereferencingResult, resolutionResult } from './answer-resolution.ts'
import { dereference, relationships } from './dereference.ts'
import { type DidFailure, didFailure } from './did-error.ts'
import { didInPath } from './parse-did.ts'
import type { ResolveCache } from './resolve-cache.ts'
import { type ReadDid, type Resolution, readDid, resolveDid } from './resolve-did.ts'

export type ResolveDeps = IdentityDeps & { cache: ResolveCache<AnswerContent> }

/** How old a document from a replica may be. */
const lagMsMax = 2_000

const knownOptions: ReadonlySet<string> = new Set([
  'versionId',
  'versionTime',
  'expandRelativeUrls',
  'service',
  'serviceType',
  'verificationRelationship',
])

type Options = Record<string, string>

/** GET of a DID or DID URL, from the raw path of the request to the answer. */
export async function handleResolve(
  deps: ResolveDeps,
  before: string,
  query: Options,
  call: CallContext,
): Promise<AnswerContent> {
  const text = didInPath(call.received.path, before)
  const read = readDid(text, deps.didMethod)
  if (read.status === 'error') return answerFailure(deps, read, call)
  const owner = read.subject.kind === 'wallet' ? read.subject.address : read.canonical
  const key = `${call.representation} ${text} ${call.received.query}`
  return (
    deps.cache.get(owner, key) ??
    deps.cache.fill(
      owner,
      key,
      () => resolve(readerOf(deps, owner), read, query, call),
      (answer) => answer.status === 200,
    )
  )
}

/** From a replica, unless something about the owner changed so lately that it might be missing there. */
function readerOf(deps: ResolveDeps, owner: string): ResolveDeps {
  const { database, cache } = deps
  if (!database.within || !cache.isUnchangedFor(owner, lagMsMax)) return deps
  return { ...deps, database: { ...database, ...database.within(lagMsMax) } }
}

async function resolve(deps: ResolveDeps, read: ReadDid, query: Options, call: CallContext): Promise<AnswerContent> {
  const given = readOptions(read, query)
  if (given.status === 'error') return answerFailure(deps, given, call)
  const { options } = given
  const { url } = read
  const inside =
    url.path !== '' || url.fragment !== '' || options.service !== undefined || options.serviceType !== undefined
  const retrieved = retrievedAt(deps)
  if (inside && call.representation === resolutionResult)
    return answerFailure(
      deps,
      didFailure('INVALID_DID', `A DID URL is dereferenced: ask for ${dereferencingResult}.`),
      call,
    )
  const resolution = await resolveDid(deps, read, options)
  if (!inside && call.representation !== dereferencingResult)
    return answerResolution(resolution, call.representation, retrieved)
  return answerDereferencing(
    resolution.status === 'ok' ? inDocument(resolution, read, options) : resolution,
    call.representation,
    retrieved,
  )
}

function inDocument(resolution: Extract<Resolution, { status: 'ok' }>, read: ReadDid, options: Options) {
  const found = dereference(resolution.document, {
    path: read.url.path,
    fragment: decoded(read.url.fragment),
    service: options.service,
    serviceType: options.serviceType,
    verificationRelationship: options.verificationRelationship,
  })
  return 'code' in found ? found : { status: 'content' as const, content: found.content, metadata: resolution.metadata }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // No part of a document has such a name, so it is looked up unchanged and not found.
    return text
  }
}

/** Options stand in the query of the request or of the DID URL inside it, never in both. */
function readOptions(read: ReadDid, query: Options): { status: 'ok'; options: Options } | DidFailure {
  const options: Options = { ...query }
  for (const [name, value] of new URLSearchParams(read.url.query)) {
    if (Object.hasOwn(options, name)) return didFailure('INVALID_OPTIONS', `${name} is given twice.`)
    options[name] = value
  }
  if (Object.hasOwn(options, 'relativeRef'))
    return didFailure('FEATURE_NOT_SUPPORTED', 'Relative references into services are left to the caller.')
  const unknown = Object.keys(options).find((name) => !knownOptions.has(name))
  if (unknown !== undefined) return didFailure('INVALID_OPTIONS', `${unknown.slice(0, 64)} is not an option.`)
  if (!['true', 'false', undefined].includes(options.expandRelativeUrls))
    return didFailure('INVALID_OPTIONS', 'expandRelativeUrls is true or false; every URL here is absolute already.')
  const relationship = options.verificationRelationship
  if (relationship !== undefined && !(relationships as readonly string[]).includes(relationship))
    return didFailure('INVALID_OPTIONS', `verificationRelationship is one of ${relationships.join(', ')}.`)
  return { status: 'ok', options }
}

const retrievedAt = (deps: IdentityDeps) => new Date(deps.clock.nowMs()).toISOString()

function answerFailure(deps: IdentityDeps, failure: DidFailure, call: CallContext): AnswerContent {
  const answer = call.representation === dereferencingResult ? answerDereferencing : answerResolution
  return answer(failure, call.representation, retrievedAt(deps))
}
