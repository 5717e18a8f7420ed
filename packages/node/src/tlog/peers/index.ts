export { createPeerAsker } from './ask-peers.ts'
export { openOwnWitness } from './own-witness.ts'
export { peerHeads } from './peer-heads.ts'
export { noPeers, type PeerLogs, type PeerWitness } from './peer-logs.ts'
