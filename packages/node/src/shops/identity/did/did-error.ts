/** Errors of DID Resolution 1.0, section "Errors", with the status its HTTP binding gives each. */
export const didErrors = {
  INVALID_DID: { status: 400, title: 'Invalid DID', legacy: 'invalidDid' },
  INVALID_DID_URL: { status: 400, title: 'Invalid DID URL', legacy: 'invalidDidUrl' },
  INVALID_OPTIONS: { status: 400, title: 'Invalid resolution options', legacy: 'invalidOptions' },
  NOT_FOUND: { status: 404, title: 'DID not found', legacy: 'notFound' },
  REPRESENTATION_NOT_SUPPORTED: {
    status: 406,
    title: 'Representation not supported',
    legacy: 'representationNotSupported',
  },
  METHOD_NOT_SUPPORTED: { status: 501, title: 'DID method not supported', legacy: 'methodNotSupported' },
  FEATURE_NOT_SUPPORTED: { status: 501, title: 'Feature not supported', legacy: 'featureNotSupported' },
} as const

export type DidErrorCode = keyof typeof didErrors

export type DidFailure = { status: 'error'; code: DidErrorCode; detail: string }

export const didFailure = (code: DidErrorCode, detail: string): DidFailure => ({ status: 'error', code, detail })

/** RFC 9457, as the specification wants the error object encoded. */
export function errorObject({ code, detail }: DidFailure) {
  const { status, title } = didErrors[code]
  return { type: `https://www.w3.org/ns/did#${code}`, title, status, detail }
}
