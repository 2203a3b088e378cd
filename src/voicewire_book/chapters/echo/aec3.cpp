// AEC3's linear and final outputs for ten milliseconds, as a C function.
#include <array>
#include <memory>

#include "api/audio/audio_processing.h"
#include "modules/audio_processing/aec3/echo_canceller3.h"

// As the library makes its own one, with the output that it leaves out.
struct Factory : webrtc::EchoControlFactory {
  std::unique_ptr<webrtc::EchoControl> Create(int rate, int far, int microphone) override {
    webrtc::EchoCanceller3Config config;
    config.filter.export_linear_aec_output = true;
    return std::make_unique<webrtc::EchoCanceller3>(config, std::nullopt, rate, far, microphone);
  }
};

extern "C" {
struct Canceller { rtc::scoped_refptr<webrtc::AudioProcessing> apm; };
void* aec3_new() {
  auto* made = new Canceller{webrtc::AudioProcessingBuilder().SetEchoControlFactory(std::make_unique<Factory>()).Create()};
  webrtc::AudioProcessing::Config config;
  config.echo_canceller.enabled = true;
  config.echo_canceller.enforce_high_pass_filtering = false;
  config.echo_canceller.export_linear_aec_output = true;
  made->apm->ApplyConfig(config);
  return made;
}
int aec3_frame(void* of, const float* far, const float* microphone, float* linear, float* final_) {
  auto& apm = *static_cast<Canceller*>(of)->apm;
  const webrtc::StreamConfig mono(16000, 1);
  std::array<float, 160> dropped;
  float* nowhere = dropped.data();
  if (apm.ProcessReverseStream(&far, mono, mono, &nowhere)) return 1;
  apm.set_stream_delay_ms(0);
  if (apm.ProcessStream(&microphone, mono, mono, &final_)) return 2;
  std::array<std::array<float, 160>, 1> out;
  if (!apm.GetLinearAecOutput(out)) return 3;
  for (int i = 0; i < 160; ++i) linear[i] = out[0][i];
  return 0;
}
void aec3_free(void* of) { delete static_cast<Canceller*>(of); }
}
