/** Bounds of the protocol: part of docs/mesh-protocol.md, the same for every node. */
export const meshProtocol = '1.0.4'
export const meshPath = '/x402/mesh'
export const announcePath = '/x402/mesh/announce'
export const agentsPath = '/v1/agent-declarations'
export const evidencePath = '/x402/mesh/evidence'
export const listingPath = '/x402/mesh/listing'
export const searchPath = '/x402/mesh/search'
export const manifestPath = '/.well-known/x402'

export const requestTag = 'x402-mesh'

export const requestValiditySecondsMax = 60

/** Peers named in one document. */
export const relayedMax = 64
/** Addresses believed to be worth a visit out of one document. */
export const newPerVisitMax = 16

/** A statement, the names of 64 peers and statements that changed; a visit reads no more. */
export const briefBytesMax = 262_144
/** Statements that changed, in one answer. */
export const changedBytesMax = 131_072
export const changedMax = 128
/** Peers that answered nothing lately, in one answer; a reader visits so many of them soon. */
export const silentMax = 16
export const silentTakenMax = 4
/** Evidence in one answer. */
export const evidencePageMax = 64
export const evidencePageBytesMax = 393_216
export const evidenceBytesMax = 524_288
/** Offers that a search reads, and shows on a page. */
export const searchedMax = 512
export const searchPageMax = 50
/** A page of the document: a peer that states much leaves room to fewer on it. */
export const pageBytesMax = 262_144
/** Peers that all pages together name. */
export const viewMax = 256
export const keyDirectoryBytesMax = 65_536
export const manifestBytesMax = 2_097_152
export const announceBodyBytesMax = 32_768
