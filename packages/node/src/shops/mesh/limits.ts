/** Bounds of the protocol: part of docs/mesh-protocol.md, the same for every node. */
export const meshProtocol = '1.0.4'
export const meshPath = '/x402/mesh'
export const announcePath = '/x402/mesh/announce'
export const manifestPath = '/.well-known/x402'

export const requestTag = 'x402-mesh'

export const requestValiditySecondsMax = 60

/** Peers named in one document. */
export const relayedMax = 64
/** Addresses believed to be worth a visit out of one document. */
export const newPerVisitMax = 16

export const meshDocumentBytesMax = 2_097_152
export const keyDirectoryBytesMax = 65_536
export const manifestBytesMax = 2_097_152
export const announceBodyBytesMax = 32_768
