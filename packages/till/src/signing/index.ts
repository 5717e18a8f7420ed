export { bodyDigest } from './body-digest.ts'
export { type ChallengeSecret, type ChallengeSecrets, openChallengeSecrets } from './challenge-secrets.ts'
export { createTokenMaker, type DerivedToken, type TokenMaker, tokenHash } from './derived-token.ts'
export { didDocument, didKey } from './did-document.ts'
export { introduceLogKey } from './introduce-log-key.ts'
export { createJwsSigner, type JwsSigner, verifyJws } from './jws.ts'
export {
  keyDirectory,
  keyDirectoryMediaType,
  keyDirectoryPath,
  keysForIndex,
} from './key-directory.ts'
export { type StatementWallet, verifyKeyStatement } from './key-statement.ts'
export { createFixedKeyring, createKeyring, type Keyring, type KeyringIdentity } from './keyring.ts'
export { keyStatementEntry } from './keyring-store.ts'
export type { KeyPlace } from './private-keys.ts'
export { createResponseSigner } from './response-signer.ts'
export { restoreStatements } from './restore-statements.ts'
export { type RevokeKeyOptions, revokeKey } from './revoke-key.ts'
export { type KeyChangeDeps, rotateKey } from './rotate-key.ts'
export type { ResponseSigner, ResponseToSign, SignatureHeaders } from './signer.ts'
export {
  deriveSecret,
  generateSigningKey,
  type LocalSigningKey,
  type PrivateSigningKey,
  privateKeyFromSeed,
  verifyEd25519,
} from './signing-key.ts'
export type { StatementLog } from './statement-log.ts'
export { revokeTokens, tokenInForce } from './token-secret.ts'
