// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IERC1271, SignatureCheck} from "./SignatureCheck.sol";

/// A contract wallet with one owner key: the smallest payer whose signatures only the chain can judge.
contract SmartWallet is IERC1271 {
    address public immutable owner;

    constructor(address firstOwner) {
        owner = firstOwner;
    }

    receive() external payable {}

    /// Answers false for a signature of any other form, where a revert would look like a broken wallet.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        try this.signerOf(hash, signature) returns (address signer) {
            if (signer == owner) return IERC1271.isValidSignature.selector;
        } catch {}
        return 0xffffffff;
    }

    function signerOf(bytes32 hash, bytes calldata signature) external pure returns (address) {
        return SignatureCheck.recover(hash, signature);
    }

    function execute(address target, uint256 value, bytes calldata data) external payable returns (bytes memory) {
        require(msg.sender == owner, "SmartWallet: caller is not the owner");
        (bool success, bytes memory result) = target.call{value: value}(data);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(result, 0x20), mload(result))
            }
        }
        return result;
    }
}
