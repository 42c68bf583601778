// What the catalogue knows of a device, of a node of several, and of a network of nodes; plain
// data. Members are named as the keys of the files; fields.cpp has their ranges and words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/hardware/number.h"

namespace heddle::hardware {

struct Device {
  std::string name;   // "h100-sxm"
  std::string title;  // "NVIDIA H100 SXM 80 GB"
  /// What the name that its driver gives has among its words; several: any of them.
  std::vector<std::string> driver;
  std::string file;  // that says so

  Number multiprocessors;
  Number memory_gib;        // that a program can have
  Number memory_gb_per_s;   // at most
  Number memory_reach;      // the share of it that a kernel of one pass reaches
  Number bf16_peak_tflops;  // dense
  Number bf16_best_tflops;  // of the best matrix product that was measured
  Number
      sustained_share;  // of it (and of what follows) that long training keeps: power has a limit
  Number fp8_peak_tflops, fp8_best_tflops;  // not known: it has no such units
  Number fp32_peak_tflops;
  Number attention_forward_tflops, attention_backward_tflops;  // by the best library, causal
  Number sdpa_forward_tflops, sdpa_backward_tflops;            // as LibTorch does by default
  Number graph_launch_us, framework_launch_us;                 // from one kernel to the next
  Number transfer_multiprocessors;                             // that a collective takes
  Number transfer_slowdown;  // by what share a collective is slower next to compute
  Number context_gib;        // the driver's context and the libraries' own memory
};

/// A collective inside a node: latency + bytes of the whole tensors / rate.
struct LinkRate {
  int64_t ranks = 0;
  Number latency_us, gb_per_s;
};

/// Devices that are joined by something faster than the network.
struct Node {
  std::string name, title, file;
  std::string device;   // its name
  std::string network;  // that joins such nodes unless another one is asked for
  int64_t devices = 0;
  int64_t nics = 0;

  Number link_gb_per_s;  // of a device to the others, one way, at most
  Number link_reach;     // the share of it that a ring reaches
  ByProtocol base_us;    // until a collective begins
  ByProtocol step_us;    // from one device to the next
  Number buffers_gib;    // that the collectives' library keeps on each device
  /// What was measured, by ranks; without it the ring's formula holds.
  std::vector<LinkRate> gather, all_reduce, all_to_all;
};

struct Network {
  std::string name, title, file;
  Number gb_per_s;     // of a network card, one way, at most
  Number reach;        // the share of it that a ring reaches
  ByProtocol step_us;  // from one node to the next
};

/// What a plan is made for: nodes of one kind in a network.
struct Entry {
  std::string name;  // "h100-sxm", or "h100-sxm@ethernet-100g" in another network than its own
  Device device;
  Node node;
  Network network;
};

/// For people: "8 × NVIDIA H100 SXM 80 GB a node, NVSwitch; InfiniBand NDR".
std::string words(const Entry& entry);

/// Where its numbers are from, a line for each source, the measured ones first.
std::vector<std::string> sources(const Entry& entry);

}  // namespace heddle::hardware
