// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Checks a report's EIP-712 attestation on chain: a contract that must not touch a token of a certain kind can ask for
/// one. Stateless; anyone may deploy it.
contract ControlAttestation {
    struct Attestation {
        uint256 chainId;
        address token;
        uint64 blockNumber;
        bytes32 blockHash;
        string verdict;
        bool complete;
        bytes32 reportHash;
        uint64 validUntil;
    }

    bytes32 private constant DOMAIN_TYPE = keccak256("EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)");
    bytes32 private constant ATTESTATION_TYPE = keccak256(
        "ControlAttestation(uint256 chainId,address token,uint64 blockNumber,bytes32 blockHash,string verdict,bool complete,bytes32 reportHash,uint64 validUntil)"
    );
    // A larger s is the same signature written a second way.
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// Who signed it for the node at `node` (its base URL); zero for no valid signature.
    function signerOf(Attestation calldata a, string calldata node, bytes calldata signature)
        external
        pure
        returns (address)
    {
        if (signature.length != 65) return address(0);
        bytes32 s = bytes32(signature[32:64]);
        if (uint256(s) > HALF_ORDER) return address(0);
        bytes32 domain =
            keccak256(abi.encode(DOMAIN_TYPE, keccak256("Assay"), keccak256("1"), a.chainId, keccak256(bytes(node))));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domain, contentHash(a)));
        return ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), s);
    }

    function contentHash(Attestation calldata a) private pure returns (bytes32) {
        bytes memory place = abi.encode(ATTESTATION_TYPE, a.chainId, a.token, a.blockNumber, a.blockHash);
        bytes memory said = abi.encode(keccak256(bytes(a.verdict)), a.complete, a.reportHash, a.validUntil);
        return keccak256(bytes.concat(place, said));
    }
}
