// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SmartWallet} from "./SmartWallet.sol";

/// Puts wallets at addresses known beforehand, so that one can pay before it exists (ERC-6492).
contract SmartWalletFactory {
    event WalletCreated(address indexed wallet, address indexed owner);

    /// Asked twice, it answers the wallet already there: a signature that carries its deployment is sent more than once.
    function createWallet(address owner, bytes32 salt) external returns (address wallet) {
        wallet = walletAddress(owner, salt);
        if (wallet.code.length != 0) return wallet;
        new SmartWallet{salt: salt}(owner);
        emit WalletCreated(wallet, owner);
    }

    function walletAddress(address owner, bytes32 salt) public view returns (address) {
        bytes32 initCodeHash = keccak256(abi.encodePacked(type(SmartWallet).creationCode, abi.encode(owner)));
        return address(
            uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, initCodeHash))))
        );
    }
}
